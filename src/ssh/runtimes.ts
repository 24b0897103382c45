// The two files that a target needs: a runtime (Node.js for its system) and our program. Packed once, kept in the cache
// of the master, named by the hash of what is in them.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createGunzip, createGzip } from 'node:zlib';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { commandFile } from './programs.ts';

const run = promisify(execFile);

/** A file to send: packed, with the hash of its unpacked content. */
export interface Shipment {
  readonly name: string;
  readonly sha256: string;
  readonly file: string;
  readonly packed: 'zstd' | 'xz' | 'gzip' | 'brotli';
}

/** What a target said of itself. */
export interface Platform {
  readonly system: string;
  /** As `uname -m` says, with `-32` where programs have 32 bits all the same. */
  readonly machine: string;
  /** `glibc-2.36`, `musl`, `unknown`. */
  readonly libc: string;
  readonly unpackers: ReadonlySet<string>;
}

interface StoredRuntime extends Shipment {
  readonly version: string;
  readonly platform: string;
}

const shortHash = (sha256: string): string => sha256.slice(0, 16);

/** Official builds need it. */
const neededGlibc = [2, 28] as const;
/** The unofficial builds for older systems need it. */
const oldestGlibc = [2, 17] as const;
const forOldGlibc = '-glibc-217';

/** Of a target with glibc. */
function glibcOf({
  libc,
}: Pick<Platform, 'libc'>): { text: string; has: (needed: readonly [number, number]) => boolean } | undefined {
  const [, major, minor] = /^glibc-(\d+)\.(\d+)/.exec(libc) ?? [];
  if (major === undefined) return undefined;
  const has = ([a, b]: readonly [number, number]): boolean =>
    Number(major) > a || (Number(major) === a && Number(minor) >= b);
  return { text: `glibc ${major}.${minor}`, has };
}

/** `linux-x64`, `linux-arm64-musl`; undefined for a system for which there is no Node.js that we could send. */
function platformName(platform: Pick<Platform, 'system' | 'machine' | 'libc'>): string | undefined {
  const { system, machine, libc } = platform;
  const machines: Readonly<Record<string, string>> = {
    ...{ x86_64: 'x64', amd64: 'x64', aarch64: 'arm64', arm64: 'arm64' },
    ...{ armv7l: 'armv7l', ppc64le: 'ppc64le', s390x: 's390x' },
  };
  const known = Object.hasOwn(machines, machine) ? machines[machine] : undefined;
  if (system !== 'Linux' || !known) return undefined;
  // RHEL 7 and others of that time.
  const old = known === 'x64' && glibcOf(platform)?.has(neededGlibc) === false;
  return `linux-${known}${libc === 'musl' ? '-musl' : old ? forOldGlibc : ''}`;
}

/** Why a runtime for this platform would not start; undefined when it should. */
function platformProblem(platform: Platform): string | undefined {
  const { system, machine } = platform;
  const name = platformName(platform);
  if (!name) return `there is no runtime for ${system} ${machine.replace('-32', ' with 32-bit programs')}`;
  const needed = name.endsWith(forOldGlibc) ? oldestGlibc : neededGlibc;
  const glibc = glibcOf(platform);
  return glibc?.has(needed) === false ? tooOld(glibc.text, needed) : undefined;
}

const tooOld = (text: string, needed: readonly [number, number]): string =>
  `its C library is too old (${text}; the runtime needs glibc ${needed.join('.')})`;

/** The platform of this process. */
function ownPlatform(): string {
  const machine = process.arch === 'arm' ? 'armv7l' : process.arch;
  return `${process.platform}-${machine}${usesMusl() ? '-musl' : ''}`;
}

function usesMusl(): boolean {
  try {
    return readFileSync('/proc/self/maps', 'latin1').includes('/ld-musl-');
  } catch {
    return false;
  }
}

export class Runtimes {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #made = new Map<string, Promise<Shipment>>();
  #program: Promise<Shipment> | undefined;

  /** `cachedir` of the master. */
  constructor(cachedir: string, log: Logger) {
    this.#folder = join(cachedir, 'ssh', 'runtimes');
    this.#log = log;
  }

  /** Our program for targets. */
  program(): Promise<Shipment> {
    this.#program ??= this.#ready().then(async () => {
      const source = await readFile(commandFile('ssh-job'));
      const sha256 = createHash('sha256').update(source).digest('hex');
      const name = `app-${shortHash(sha256)}.cjs`;
      return { name, sha256, packed: 'brotli', file: await this.#pack(name, source) };
    });
    return this.#program;
  }

  /** Short hashes of all runtimes that targets may already have. */
  async known(): Promise<string> {
    const stored = await this.#all();
    return stored.length === 0 ? 'none' : stored.map(({ sha256 }) => shortHash(sha256)).join(' ');
  }

  /** Throws HaliteError with what to do when there is none. */
  async runtime(platform: Platform): Promise<Shipment> {
    const problem = platformProblem(platform);
    const name = platformName(platform);
    // What could be added would not start either.
    if (problem || !name) throw missing(problem ?? 'there is no runtime for it', undefined);
    const key = `${name} ${platform.unpackers.has('zstd')}`;
    const making = this.#made.get(key) ?? this.#find(name, platform);
    this.#made.set(key, making);
    return making;
  }

  async #find(name: string, platform: Platform): Promise<Shipment> {
    const { unpackers } = platform;
    await this.#ready();
    const stored = (await this.#all()).filter((each) => each.platform === name && unpackers.has(each.packed));
    if (name === ownPlatform())
      return stored.find(({ version }) => version === process.versions.node) ?? this.#packOwn(name);
    const newest = stored.sort((a, b) => b.version.localeCompare(a.version, 'en', { numeric: true }))[0];
    const glibc = glibcOf(platform);
    if (!newest && glibc && !glibc.has(neededGlibc)) throw missing(tooOld(glibc.text, neededGlibc), name);
    if (!newest) throw missing(`no runtime for ${name} was added`, name);
    return newest;
  }

  /** `node-<version>-<platform>.<hash>.gz`. */
  async #all(): Promise<StoredRuntime[]> {
    const names = await readdir(this.#folder).catch((): string[] => []);
    const form = /^node-v?([\w.]+)-(.+)\.([0-9a-f]{64})\.(zst|xz|gz)$/;
    const packers = { zst: 'zstd', xz: 'xz', gz: 'gzip' } as const;
    return names.flatMap((file): StoredRuntime[] => {
      const [, version = '', platform = '', sha256 = '', ending] = form.exec(file) ?? [];
      const packed = packers[ending as keyof typeof packers];
      if (!packed) return [];
      const name = `node-${shortHash(sha256)}`;
      return [{ ...{ name, sha256, packed, version, platform }, file: join(this.#folder, file) }];
    });
  }

  /** The Node.js that runs this program, without what only debuggers need. */
  async #packOwn(name: string): Promise<Shipment> {
    await refuseShared();
    const work = await mkdtemp(join(this.#folder, '.work-'));
    try {
      const copy = join(work, 'node');
      await copyFile(process.execPath, copy);
      await chmod(copy, 0o700);
      await run('strip', [copy]).catch((error: unknown) => {
        this.#log.debug('the runtime is sent with its symbols', { error: messageOf(error) });
      });
      const sha256 = await hashOf(copy);
      const file = join(this.#folder, `node-${process.versions.node}-${name}.${sha256}.gz`);
      const draft = join(work, 'packed');
      await pipeline(createReadStream(copy), createGzip({ level: 6 }), createWriteStream(draft, { mode: 0o600 }));
      await rename(draft, file);
      return { name: `node-${shortHash(sha256)}`, sha256, packed: 'gzip', file };
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  /** Adds a runtime that somebody fetched: a `node` program, or one packed with gzip. Returns its stored name. */
  async add(source: string, platform: string, version: string): Promise<string> {
    await this.#ready();
    const work = await mkdtemp(join(this.#folder, '.work-'));
    try {
      const copy = join(work, 'node');
      const input = createReadStream(source);
      const steps = source.endsWith('.gz') ? [input, createGunzip()] : [input];
      await pipeline([...steps, createWriteStream(copy, { mode: 0o700 })]);
      const head = (await readFile(copy)).subarray(0, 4);
      if (head.toString('latin1') !== '\x7fELF')
        throw new HaliteError('call.arguments', `${source} is not a program for Linux`);
      const sha256 = await hashOf(copy);
      const name = `node-${version}-${platform}.${sha256}.gz`;
      const draft = join(work, 'packed');
      await pipeline(createReadStream(copy), createGzip({ level: 6 }), createWriteStream(draft, { mode: 0o600 }));
      await rename(draft, join(this.#folder, name));
      return name;
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  async #pack(name: string, source: Buffer): Promise<string> {
    const file = join(this.#folder, `${name}.br`);
    if (existsSync(file)) return file;
    const draft = join(this.#folder, `.${process.pid}-${name}`);
    // A runtime is there before it: its own unpacker makes this a tenth smaller than gzip does.
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: source.length };
    await writeFile(draft, await promisify(brotliCompress)(source, { params }), { mode: 0o600 });
    await rename(draft, file);
    // Of earlier versions.
    for (const other of await readdir(this.#folder))
      if (other.startsWith('app-') && other !== `${name}.br` && (await isOld(join(this.#folder, other))))
        await rm(join(this.#folder, other), { force: true });
    return file;
  }

  async #ready(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }
}

const weekMs = 7 * 24 * 3600 * 1000;
const isOld = async (file: string): Promise<boolean> =>
  stat(file).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > weekMs,
    () => false,
  );

/** A Node.js that is not one file (Debian's own) cannot be sent. */
async function refuseShared(): Promise<void> {
  const { size } = await stat(process.execPath);
  if (size < 20_000_000) throw missing('the Node.js of this master consists of several files', ownPlatform());
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

const missing = (why: string, platform: string | undefined): HaliteError =>
  new HaliteError('extension.unavailable', why, {
    hint: platform
      ? `Fetch the Node.js for ${platform} and add it: halite ssh-runtime add /path/of/node ${platform}; or install Node.js 20.19 or newer there. Commands with -r need neither.`
      : 'Only commands with -r work there.',
  });
