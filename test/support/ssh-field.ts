// A master's configuration for salt-ssh with real sshd processes as targets, in a folder of its own.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CommandResult, halite, type Implementation, runProgram, startProgram } from './deployment.ts';
import { findProgram } from './servers/server.ts';
import { type Sshd, type SshdOptions, startSshd } from './servers/sshd.ts';

export interface FieldTarget {
  readonly id: string;
  readonly sshd: Sshd;
  /** What salt-ssh keeps there. */
  readonly folder: string;
}

export interface FieldOptions extends SshdOptions {
  /** False: the sessions of the target find no Node.js, as on a machine that has none. */
  readonly node?: boolean;
  /** More fields of the roster entry, as YAML for a map in braces. */
  readonly entry?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What shells, coreutils and friends are called: a PATH with these has no Node.js. */
const programs = (
  'sh env cat chmod mkdir rm mv ln ls df uname getconf gzip zstd sha256sum mktemp printf id grep touch tail head sleep ' +
  'hostname true false stty test sudo kill ps stat dirname basename cp find sed awk which date echo python3'
).split(' ');

export class SshField {
  readonly root = mkdtempSync(join(tmpdir(), 'halite-ssh-test-'));
  readonly targets: FieldTarget[] = [];
  readonly #lines: string[] = [];
  #bare: string | undefined;

  constructor(config = '') {
    for (const folder of ['etc', 'srv/salt', 'srv/pillar', 'targets', 'log', 'tmp'])
      mkdirSync(this.path(folder), { recursive: true });
    const lines = [
      'user: root',
      `root_dir: ${this.root}`,
      `pki_dir: ${this.path('pki')}`,
      `cachedir: ${this.path('cache')}`,
      `sock_dir: ${this.path('run')}`,
      `log_file: ${this.path('log/master')}`,
      `ssh_log_file: ${this.path('log/ssh')}`,
      `file_roots: {base: [${this.path('srv/salt')}]}`,
      `pillar_roots: {base: [${this.path('srv/pillar')}]}`,
      'ssh_timeout: 20',
      config,
    ];
    writeFileSync(this.path('etc/master'), `${lines.join('\n')}\n`);
    this.write('etc/roster', '');
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  write(path: string, text: string): string {
    const file = this.path(path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Starts an sshd and adds it to the roster. */
  async add(id: string, options: FieldOptions = {}): Promise<FieldTarget> {
    const path = options.node === false ? this.#barePath() : `${dirname(process.execPath)}:${process.env['PATH']}`;
    const sshd = await startSshd({ PATH: path, ...options.env }, options);
    const folder = this.path('targets', id);
    const target = { id, sshd, folder };
    this.targets.push(target);
    this.#lines.push(this.entry(target, options.entry));
    this.write('etc/roster', this.#lines.join(''));
    return target;
  }

  entry({ id, sshd, folder }: FieldTarget, more = ''): string {
    const known = `UserKnownHostsFile=${sshd.known}`;
    const own = `host: 127.0.0.1, port: ${sshd.port}, user: root, priv: ${sshd.key}, thin_dir: ${folder}`;
    return `${id}: {${own}, ssh_options: ['${known}', 'GlobalKnownHostsFile=/dev/null']${more === '' ? '' : `, ${more}`}}\n`;
  }

  /** The command, of us or of a real Salt. */
  run(...args: string[]): Promise<CommandResult> {
    return this.runAs(halite, args);
  }

  runAs(
    { bin }: Implementation,
    args: readonly string[],
    options: { env?: NodeJS.ProcessEnv; input?: string; timeoutMs?: number } = {},
  ): Promise<CommandResult> {
    const env = { TMPDIR: this.path('tmp'), ...options.env };
    return runProgram(join(bin, 'salt-ssh'), ['-c', this.path('etc'), ...args], {
      timeoutMs: 120_000,
      ...options,
      env,
    });
  }

  start(...args: string[]): ReturnType<typeof startProgram> {
    const env = { TMPDIR: this.path('tmp') };
    return startProgram(join(halite.bin, 'salt-ssh'), ['-c', this.path('etc'), ...args], { timeoutMs: 120_000, env });
  }

  /** The results of a run, by id. */
  async json(...args: string[]): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await this.run('--out=json', '--static', ...args);
    try {
      return JSON.parse(stdout) as Record<string, unknown>;
    } catch {
      throw new Error(`salt-ssh ${args.join(' ')} printed no JSON:\n${stdout}\n${stderr}`);
    }
  }

  async destroy(): Promise<void> {
    await Promise.all(this.targets.map(({ sshd }) => sshd.stop()));
    if (!process.env['HALITE_KEEP']) rmSync(this.root, { recursive: true, force: true, maxRetries: 20 });
  }

  #barePath(): string {
    if (this.#bare) return this.#bare;
    const folder = this.path('bare-bin');
    mkdirSync(folder);
    for (const name of programs) {
      const file = findProgram(name);
      if (file && existsSync(file)) symlinkSync(file, join(folder, name));
    }
    this.#bare = folder;
    return folder;
  }
}

/** '' for a file that is not there, or not readable. */
export function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
