// What the playgrounds of `npm start` share: a private folder, daemons whose output is shown, commands, an orderly end.
import { spawn, spawnSync } from 'node:child_process';
import { createReadStream, existsSync, mkdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root } from '../setup.mjs';

export const home = join(root, '.halite');
export const bin = join(root, 'bin');
const color = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code, text) => (color ? `\x1b[${code}m${text}\x1b[0m` : text);
export const say = (text) => console.log(`${paint('1;34', '▸')} ${text}`);

/** A port of the address that nobody uses now. */
export async function freePort(address = '127.0.0.1') {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, address, resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export class Playground {
  #children = [];
  #restartable = new Map();
  #stopping = false;
  ready = false;

  constructor() {
    process.on('SIGINT', () => this.stop(0));
    process.on('SIGTERM', () => this.stop(0));
  }

  /** Empties the folder of an earlier run. */
  begin() {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(join(home, 'log'), { recursive: true });
  }

  /**
   * Starts a program. With `again` (how to start it anew) a user may stop it, to see the effect on the others; without it its
   * end is the end of the playground. `pidFile`: of one that the user started again.
   */
  daemon(name, program, args, { again, pidFile } = {}) {
    const log = join(home, 'log', `${name}.out`);
    writeFileSync(log, '');
    if (pidFile) this.#restartable.set(name, pidFile);
    const child = spawn('/bin/sh', ['-c', `exec "$0" "$@" >"${log}" 2>&1`, program, ...args], { stdio: 'ignore' });
    child.on('exit', (code) => {
      if (this.#stopping) return;
      if (this.ready && again) {
        say(`${name} has ended; to start it again: ${again}`);
        return;
      }
      console.error(`${name} ended unexpectedly (exit ${code}); its output:\n${readFileSync(log, 'utf8')}`);
      this.stop(1);
    });
    this.#children.push(child);
    follow(name, log);
    return child;
  }

  stop(code) {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const child of this.#children) child.kill('SIGTERM');
    for (const pidFile of this.#restartable.values()) endRestarted(pidFile);
    const deadline = setTimeout(() => {
      for (const child of this.#children) child.kill('SIGKILL');
    }, 5000);
    Promise.all(
      this.#children.map((child) =>
        child.exitCode !== null || child.signalCode ? undefined : new Promise((resolve) => child.once('exit', resolve)),
      ),
    ).then(() => {
      clearTimeout(deadline);
      say('stopped');
      process.exit(code);
    });
  }

  async eventually(what, test, seconds = 60) {
    const deadline = Date.now() + seconds * 1000;
    while (!(await test())) {
      if (Date.now() > deadline) {
        console.error(`timed out waiting for ${what}`);
        this.stop(1);
        await new Promise(() => {});
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Prints the log of a daemon as it is written. */
function follow(name, file) {
  let at = 0;
  let busy = false;
  const read = () => {
    if (busy || !existsSync(file) || statSync(file).size <= at) return;
    busy = true;
    const stream = createReadStream(file, { start: at, encoding: 'utf8' });
    stream.on('data', (text) => {
      at += Buffer.byteLength(text);
      for (const line of text.split('\n')) if (line) console.log(`${paint('2', name.padEnd(7))} ${line}`);
    });
    stream.on('close', () => {
      busy = false;
      read();
    });
  };
  watch(file, read).unref();
}

/** A daemon that the user stopped and started again manually is not a child process, but belongs here. */
function endRestarted(pidFile) {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'));
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(home)) process.kill(pid, 'SIGTERM');
  } catch {
    // Not running.
  }
}

/** Shows a command and its output, as a user would type it. `etc`: the configuration it uses. */
export function command(etc, name, args) {
  console.log(
    `\n${paint('1', `$ ${name} ${args.map((arg) => (/[^\w./:=@-]/.test(arg) ? `'${arg}'` : arg)).join(' ')}`)}`,
  );
  const done = spawnSync(join(bin, name), ['-c', etc, ...args], { encoding: 'utf8' });
  process.stdout.write(done.stdout + done.stderr);
  return done;
}

/** How many minions answer a ping of this master. */
export function answering(etc) {
  const args = ['-c', etc, '*', 'test.ping', '--out=json', '--static', '-t', '2'];
  const done = spawnSync(join(bin, 'salt'), args, { encoding: 'utf8' });
  try {
    return Object.values(JSON.parse(done.stdout)).filter((value) => value === true).length;
  } catch {
    return 0;
  }
}

/** A file to source: commands of that shell then use this configuration. */
export function writeEnvironment(file, etc) {
  writeFileSync(
    file,
    `# Source this: . ${file.slice(root.length).replace(/^\//, '')}\nexport PATH="${bin}:$PATH"\nexport SALT_CONFIG_DIR="${etc}"\nexport SALT_MASTER_CONFIG="${etc}/master"\n`,
  );
}

/** The configuration of a minion; returns its folder. */
export function writeMinion(id, role, masters) {
  const folder = join(home, id, 'etc');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'minion'),
    `id: ${id}\nroot_dir: ${join(home, id)}\nmaster:\n${masters.map((master) => `  - ${master}\n`).join('')}pki_dir: /pki\ncachedir: /cache\nsock_dir: /run\nlog_file: /log\npidfile: /minion.pid\nacceptance_wait_time: 1\ngrains:\n  role: ${role}\n`,
  );
  return folder;
}

/** Starts the daemon of a minion that `writeMinion` described. */
export function startMinion(playground, id, etc) {
  playground.daemon(id, join(bin, 'salt-minion'), ['-c', etc, '-l', 'info'], {
    again: `salt-minion -c ${etc} -d`,
    pidFile: join(home, id, 'minion.pid'),
  });
}
