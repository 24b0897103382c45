// A master on another host, read with the ssh, find, sha256sum and tar of both machines. Nothing that the host says is
// run here or sent back to a shell there: the commands are fixed, and paths travel quoted or in lists.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { HaliteError } from '../../../base/errors/index.ts';
import { visibleLine } from '../../../base/util/visible.ts';
import { readTar } from '../bundle/tar.ts';
import { snapshotDatabase } from '../history/snapshot.ts';
import { bounds, Listing, outermost, type Source, type SourceFile, type Take } from './source.ts';

export interface SshAddress {
  readonly name: string;
  readonly user: string;
  readonly host: string;
  readonly port: number | undefined;
  readonly configDir: string;
}

export interface SshOptions {
  /** A configuration file for ssh, or ''. */
  readonly ssh: string;
  readonly sudo: boolean;
  readonly halite: string;
}

const form = /^ssh:\/\/(?:([A-Za-z0-9_][\w.-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:]+\])(?::(\d{1,5}))?(\/.*)?$/;

/** `ssh://[user@]host[:port][/etc/salt]`. */
export function readSshAddress(text: string): SshAddress {
  const found = form.exec(text);
  const [, user = '', host = '', port, path = ''] = found ?? [];
  const configDir = normalize(path === '' || path === '/' ? '/etc/salt' : path).replace(/(.)\/$/, '$1');
  if (!found || Number(port ?? 22) > 65_535 || /[\p{Cc}]/u.test(configDir) || path.includes('/../'))
    throw new HaliteError('call.arguments', `${visibleLine(text)} is not an address like ssh://user@host:22/etc/salt`);
  return {
    name: text,
    user,
    host: host.replace(/^\[|\]$/g, ''),
    port: port === undefined ? undefined : Number(port),
    configDir,
  };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Facts of regular files, links followed; every path ends with a NUL. */
const findScript = `LC_ALL=C; export LC_ALL; for p do if [ -e "$p" ]; then find -L "$p" -type f -printf '%s %m %u %p\\0'; fi; done; exit 0`;
const sumScript = `LC_ALL=C; export LC_ALL; xargs -0 -r sha256sum -z --; exit 0`;
const tarScript = `LC_ALL=C; export LC_ALL; tar --create --dereference --hard-dereference --no-recursion --absolute-names --ignore-failed-read --format=gnu --null --verbatim-files-from --files-from=-; exit 0`;

const mostErrorText = 4000;
const mostRecord = bounds.pathBytes + 200;

export class SshSource implements Source {
  readonly name: string;
  readonly configDir: string;
  readonly notes: string[] = [];
  readonly #address: SshAddress;
  readonly #options: SshOptions;
  readonly #shared = mkdtempSync(join(tmpdir(), 'halite-ssh-'));

  constructor(address: SshAddress, options: SshOptions) {
    this.#address = address;
    this.#options = options;
    this.name = address.name;
    this.configDir = address.configDir;
  }

  async list(paths: readonly string[]): Promise<SourceFile[]> {
    const wanted = outermost(paths);
    const listing = new Listing(this.name, wanted);
    const facts = new Map<string, Omit<SourceFile, 'sha256' | 'path'>>();
    for await (const record of records(this.#run(findScript, wanted), this.name)) {
      const [, size, mode, owner = '', path = ''] = /^(\d{1,16}) (\d{1,5}) (\S{1,64}) (.+)$/s.exec(record) ?? [];
      if (size === undefined || facts.size >= bounds.files)
        throw this.#odd('a list of files that is too long or not readable');
      listing.check(path);
      facts.set(path, { size: Number(size), mode: Number.parseInt(mode ?? '0', 8) & 0o777, owner });
    }
    const names = [...facts.keys()];
    for await (const record of records(this.#run(sumScript, [], names), this.name)) {
      const path = record.slice(66);
      const known = facts.get(path);
      if (!known) throw this.#odd(`a sum of ${visibleLine(path.slice(0, 200))}, which was not asked for`);
      listing.add({ path, sha256: record.slice(0, 64), ...known });
    }
    return listing.files;
  }

  async read(files: readonly SourceFile[], take: Take): Promise<void> {
    const wanted = new Map(files.map((file) => [file.path, file]));
    for await (const { name, kind, content } of readTar(this.#run(tarScript, [], [...wanted.keys()]))) {
      const file = wanted.get(name);
      if (!file || kind !== 'file') throw this.#odd(`${visibleLine(name.slice(0, 200))}, which was not asked for`);
      wanted.delete(name);
      await take(file, content);
    }
  }

  async host(): Promise<string> {
    let text = '';
    for await (const part of this.#run('uname -n', [])) {
      text += part.toString();
      if (text.length > 300) break;
    }
    return text.trim().slice(0, 255);
  }

  /** By the halite command there, which may read a database in use; else a copy that nobody changed meanwhile. */
  async snapshot(database: string, to: string): Promise<true | string> {
    const hash = createHash('sha256');
    let said = '';
    const stream = this.#run(`exec "$0" snapshot "$1"`, [database], undefined, this.#options.halite, (text) => {
      said += text;
    });
    const counted = async function* (): AsyncGenerator<Buffer> {
      let bytes = 0;
      for await (const part of stream) {
        bytes += part.length;
        if (bytes > bounds.bytes) throw new Error(`the history there has more than ${bounds.bytes} bytes`);
        hash.update(part);
        yield part;
      }
    };
    try {
      await pipeline(counted, createWriteStream(to, { mode: 0o600 }));
      if (/^sha256 ([0-9a-f]{64})$/m.exec(said)?.[1] === hash.digest('hex')) return true;
    } catch (error) {
      if (!(error instanceof HaliteError)) throw error;
    }
    rmSync(to, { force: true });
    return this.#quietCopy(database, to);
  }

  async #quietCopy(database: string, to: string): Promise<true | string> {
    const folder = join(dirname(to), 'copied');
    const paths = [database, `${database}-wal`];
    try {
      const before = await this.list(paths);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await this.read(before, async ({ path, size }, content) => {
        await pipeline(
          limited(content, size),
          createWriteStream(join(folder, path === database ? 'db' : 'db-wal'), { mode: 0o600 }),
        );
      });
      const after = await this.list(paths);
      const same = JSON.stringify(before) === JSON.stringify(after);
      if (!same)
        return `${database} is in use there, and there is no command ${this.#options.halite} to copy it: name it with halite=/path/of/halite, or stop the master`;
      return await snapshotDatabase(join(folder, 'db'), to);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Ends the connection that all commands share. */
  async close(): Promise<void> {
    if (existsSync(join(this.#shared, 'control'))) {
      const child = spawn('ssh', [...this.#connection(), '-O', 'exit', '--', this.#address.host], { stdio: 'ignore' });
      await new Promise((done) => child.once('close', done).once('error', done));
    }
    rmSync(this.#shared, { recursive: true, force: true });
  }

  #odd(what: string): HaliteError {
    return new HaliteError('path.refused', `${this.name} sent ${what}; nothing of it was used`);
  }

  /** The output of a script there; `names` become its input, each with a NUL. */
  async *#run(
    script: string,
    words: readonly string[],
    names?: readonly string[],
    self = 'sh',
    onError: (text: string) => void = (text) => this.#note(text),
  ): AsyncGenerator<Buffer> {
    const child = this.#start([...(this.#options.sudo ? ['sudo', '-n'] : []), 'sh', '-c', script, self, ...words]);
    let errors = '';
    child.stderr.on('data', (data: Buffer) => {
      if (errors.length < mostErrorText) errors += data.toString();
    });
    const ended = new Promise<number | Error>((done) => {
      child.once('error', done);
      child.once('close', (code) => done(code ?? -1));
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end((names ?? []).map((name) => `${name}\0`).join(''));
    try {
      for await (const part of child.stdout) yield part as Buffer;
      const code = await ended;
      if (code !== 0) throw this.#failed(code, errors);
      onError(errors);
    } finally {
      if (child.exitCode === null) child.kill();
    }
  }

  #note(text: string): void {
    for (const line of text
      .split('\n')
      .filter((each) => each !== '')
      .slice(0, 20)) {
      const note = `there: ${visibleLine(line.slice(0, 300))}`;
      if (!this.notes.includes(note) && this.notes.length < 100) this.notes.push(note);
    }
  }

  #connection(): string[] {
    const { user, port } = this.#address;
    const set = (name: string, value: string): string[] => ['-o', `${name}=${value}`];
    return [
      ...(this.#options.ssh === '' ? [] : ['-F', this.#options.ssh]),
      ...['-T', '-x', '-a'],
      ...set('BatchMode', 'yes'),
      ...set('ConnectTimeout', '15'),
      ...set('ServerAliveInterval', '15'),
      ...set('ClearAllForwardings', 'yes'),
      ...set('PermitLocalCommand', 'no'),
      ...set('ControlMaster', 'auto'),
      ...set('ControlPath', join(this.#shared, 'control')),
      ...set('ControlPersist', '60'),
      ...(port === undefined ? [] : ['-p', String(port)]),
      ...(user === '' ? [] : ['-l', user]),
    ];
  }

  #start(command: readonly string[]): ChildProcessWithoutNullStreams {
    const words = [...this.#connection(), '--', this.#address.host, command.map(quoted).join(' ')];
    return spawn('ssh', words, { stdio: ['pipe', 'pipe', 'pipe'] });
  }

  #failed(code: number | Error, errors: string): HaliteError {
    const said =
      visibleLine(errors.trim().slice(-500)) || (code instanceof Error ? code.message : `ssh ended with ${code}`);
    return new HaliteError('daemon.unreachable', `${this.name} cannot be read: ${said}`, {
      hint: `This must work without a question: ssh ${this.#address.host} true. A key or another user can be named in a file: ssh=/path/of/ssh_config`,
    });
  }
}

async function* limited(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let left = size;
  for await (const part of content) {
    if (left > 0) yield part.subarray(0, left);
    left -= part.length;
  }
}

/** Texts that end with a NUL. */
async function* records(stream: AsyncIterable<Buffer>, name: string): AsyncGenerator<string> {
  let held: Buffer = Buffer.alloc(0);
  for await (const part of stream) {
    held = held.length === 0 ? part : Buffer.concat([held, part]);
    let from = 0;
    for (let at = held.indexOf(0); at !== -1; at = held.indexOf(0, from)) {
      yield held.subarray(from, at).toString('utf8');
      from = at + 1;
    }
    held = held.subarray(from);
    if (held.length > mostRecord)
      throw new HaliteError('path.refused', `${name} sent a name that is longer than ${bounds.pathBytes} bytes`);
  }
}
