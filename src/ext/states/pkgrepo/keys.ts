// Installs the signing keys of package sources for apt.

import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { commandError, oneOrMore, type PlainDict, pyStr, type StateContext, type Value } from 'halite/sdk';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';

const armored = /-----BEGIN PGP PUBLIC KEY BLOCK-----([\s\S]*?)-----END PGP PUBLIC KEY BLOCK-----/g;

/** Decodes ASCII armour; other data is unchanged. */
function withoutArmour(content: Buffer): Buffer {
  const text = content.toString('latin1');
  const blocks = [...text.matchAll(armored)].map((match) => {
    const body = (match[1] ?? '').replace(/\r/g, '');
    const start = body.indexOf('\n\n');
    const lines = body
      .slice(Math.max(0, start))
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('=') && !line.includes(':'));
    return Buffer.from(lines.join(''), 'base64');
  });
  return blocks.length > 0 ? Buffer.concat(blocks) : content;
}

const isArmoured = (content: Buffer): boolean =>
  content.subarray(0, 4096).toString('latin1').includes('-----BEGIN PGP');

/** A key of a key server, by its id. */
async function receiveKey(id: string, server: string, ctx: StateContext): Promise<Buffer> {
  const gpg = which('gpg');
  if (!gpg) throw commandError(`Error: key retrieval failed: gpg is not installed`);
  const home = mkdtempSync(join(tmpdir(), 'halite-gpg-'));
  const run = (...args: string[]) =>
    ctx.exec(gpg, ['--homedir', home, '--batch', '--no-tty', ...args], { timeoutMs: 120_000 });
  try {
    chmodSync(home, 0o700);
    const got = await run('--keyserver', server, '--recv-keys', id);
    if (got.retcode !== 0) throw commandError(`Error: key retrieval failed: ${got.stderr || got.stdout}`);
    const file = join(home, 'exported.gpg');
    const exported = await run('--output', file, '--export', id);
    if (exported.retcode !== 0) throw commandError(`Error: Could not add key: ${id}`);
    return readFileSync(file);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function keyContents(options: PlainDict, ctx: StateContext): Promise<Buffer[]> {
  const { keyid, keyserver, key_url: url, key_text: text } = options;
  if (keyid !== undefined && keyid !== null) {
    if (!keyserver) throw commandError('both keyserver and keyid options required.');
    const ids = oneOrMore(keyid).map((id) => (typeof id === 'number' ? `0x${id.toString(16)}` : pyStr(id)));
    return Promise.all(ids.map((id) => receiveKey(id, pyStr(keyserver), ctx)));
  }
  if (text) return [Buffer.from(pyStr(text))];
  if (!url) return [];
  const urls: Value[] = oneOrMore(url);
  return Promise.all(
    urls.map(async (item) => {
      const path = await ctx.files.cacheFile(pyStr(item), { saltenv: ctx.saltenv });
      if (!path) throw commandError(`Error: file not found: ${pyStr(item)}`);
      return readFileSync(path);
    }),
  );
}

/** Whether bytes are an OpenPGP packet: the highest bit of the first byte is set. */
const isKey = (content: Buffer): boolean => content.length > 0 && ((content[0] as number) & 0x80) !== 0;

/** Salt's message for a key that apt would not accept. */
function refusal({ key_url: url, key_text: text, keyid: id }: PlainDict): string {
  if (url) return `Error: failed to add key from ${pyStr(url)}`;
  return text ? `Error: failed to add key:\n${pyStr(text)}` : `Error: Could not add key: ${pyStr(id ?? '')}`;
}

/** The file of a key when the source does not name one. */
function trustedFile(repo: string, armour: boolean): string {
  const slug = repo
    .replace(/^deb(-src)?\s+(\[[^\]]*\]\s+)?/, '')
    .replace(/^[a-z+]+:\/\//, '')
    .replace(/[^A-Za-z0-9.]+/g, '-')
    .replace(/^-|-$/g, '');
  return join('/etc/apt/trusted.gpg.d', `${slug.slice(0, 100)}.${armour ? 'asc' : 'gpg'}`);
}

/** Installs the keys of a source: into its `signedby` file, or among the keys trusted for all sources. */
export async function importKeys(repo: string, signedBy: string, options: PlainDict, ctx: StateContext): Promise<void> {
  const contents = await keyContents(options, ctx);
  if (contents.length === 0) return;
  if (!contents.every((content) => isKey(withoutArmour(content)))) throw commandError(refusal(options));
  const joined = contents.length === 1 ? (contents[0] as Buffer) : Buffer.concat(contents.map(withoutArmour));
  const target = signedBy || trustedFile(repo, isArmoured(joined));
  const content = target.endsWith('.asc') ? joined : withoutArmour(joined);
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
  writeFileSync(target, content, { mode: 0o644 });
  chmodSync(target, 0o644);
  ctx.log.info('key of a package source written', { file: basename(target) });
}

/** Removes the installed key of a source that does not name a file for it. */
export function forgetKeys(repo: string): void {
  for (const armour of [true, false]) rmSync(trustedFile(repo, armour), { force: true });
}
