// Encrypted values: decrypted with the system's gpg, and masked wherever they could appear.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pyRepr } from '../../base/codec/python/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { PillarTree } from './testing.ts';

const top = "base:\n  '*':\n    - a\n";
let tree: PillarTree;
const keys = (): string => join(tree.root, 'etc/gpgkeys');

const gpg = (args: readonly string[], input: string | Buffer = ''): Buffer =>
  execFileSync('gpg', ['--homedir', keys(), '--batch', '--yes', '--quiet', ...args], { input, stdio: 'pipe' });
const encrypt = (plain: string | Buffer): string =>
  gpg(['--armor', '--trust-model', 'always', '-r', 'pillar@example.com', '-e'], plain).toString();
const indented = (text: string, by: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => by + line)
    .join('\n');

beforeAll(() => {
  tree = new PillarTree();
  mkdirSync(keys(), { recursive: true, mode: 0o700 });
  gpg(['--passphrase', '', '--quick-gen-key', 'pillar@example.com', 'future-default', 'default', 'never']);
});
afterAll(() => {
  execFileSync('gpgconf', ['--homedir', keys(), '--kill', 'all']);
  tree.remove();
});

async function pillarOf(sls: string, opts: PlainDict = newDict()): Promise<string> {
  tree.write({ 'pillar/top.sls': top, 'pillar/a.sls': sls });
  tree.opts = opts;
  tree.logged.length = 0;
  return pyRepr(await tree.compile());
}
const options = (values: Record<string, Value>): PlainDict => newDict(Object.entries(values));

describe('gpg', () => {
  it('decrypts messages in a file, as part of the pipe', async () => {
    const text = `#!yaml|gpg\nplain: text\nsecret: |\n${indented(encrypt('s3cret-value\n'), '  ')}\nlist:\n  - |\n${indented(encrypt('b'), '    ')}\n`;
    expect(await pillarOf(text)).toBe("{'plain': 'text', 'secret': 's3cret-value', 'list': ['b']}");
  });
  it('decrypts the text of a file before it is read', async () => {
    expect(await pillarOf(`#!gpg|jinja|yaml\n${encrypt('x: {{ 1 + 1 }}\ny: z\n')}`)).toBe("{'x': 2, 'y': 'z'}");
  });
  it('decrypts single keys of a finished pillar', async () => {
    const opts = options({ decrypt_pillar: ['a:b', options({ n: 'gpg' })] });
    const text = `a:\n  b: |\n${indented(encrypt('deep'), '    ')}\n  c: x\nn:\n  - |\n${indented(encrypt('in a list'), '    ')}\n`;
    expect(await pillarOf(text, opts)).toBe("{'a': {'b': 'deep', 'c': 'x'}, 'n': ['in a list']}");
  });
  it('accepts messages whose line breaks are written as \\n', async () => {
    const line = encrypt('one line').trimEnd().replaceAll('\n', '\\n');
    expect(await pillarOf(`#!yaml|gpg\nx: '${line}'\n`)).toBe("{'x': 'one line'}");
  });
  it('keeps bytes that are not text', async () => {
    const bytes = Buffer.from([0xff, 0, 0xfe]);
    expect(await pillarOf(`#!yaml|gpg\nx: |\n${indented(encrypt(bytes), '  ')}\n`)).toBe("{'x': b'\\xff\\x00\\xfe'}");
  });
  it('fails on what it cannot decrypt, or passes it through if configured', async () => {
    const bad = '-----BEGIN PGP MESSAGE-----\n\nnot real\n-----END PGP MESSAGE-----';
    const text = `#!yaml|gpg\nx: |\n${indented(bad, '  ')}\n`;
    expect(await pillarOf(text, options({ pillar_safe_render_error: false }))).toContain('Could not decrypt cipher b');
    expect(await pillarOf(text, options({ gpg_decrypt_must_succeed: false }))).toBe(
      "{'x': '-----BEGIN PGP MESSAGE-----\\n\\nnot real\\n-----END PGP MESSAGE-----'}",
    );
  });
  it('finds keys where gpg_keydir says', async () => {
    const text = `#!yaml|gpg\nx: |\n${indented(encrypt('here'), '  ')}\n`;
    expect(await pillarOf(text, options({ gpg_keydir: keys(), conf_file: '/nowhere/master' }))).toBe("{'x': 'here'}");
    expect(await pillarOf(text, options({ conf_file: '/nowhere/master' }))).toContain('_errors');
  });
  it('works as an external pillar on the earlier data', async () => {
    const text = `x: |\n${indented(encrypt('outside'), '  ')}\n`;
    expect(await pillarOf(text, options({ ext_pillar: [options({ gpg: newDict() })] }))).toBe("{'x': 'outside'}");
  });
});

describe('masking', () => {
  it('shows no decrypted text in errors and logs', async () => {
    const text = `#!gpg|jinja|yaml\n${encrypt('top_secret_line: 1\n{{ undefined_thing }}\n')}`;
    const shown = await pillarOf(text, options({ pillar_safe_render_error: false }));
    expect(shown).toContain('undefined_thing');
    expect(shown).not.toContain('top_secret_line');
    expect(tree.logged.join('\n')).toContain('**********');
    expect(tree.logged.join('\n')).not.toContain('top_secret_line');
  });
});
