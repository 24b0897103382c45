// `npm start`: a master and three minions in a private folder, with first jobs answered; Ctrl-C stops everything.
import { spawn, spawnSync } from 'node:child_process';
import { createReadStream, existsSync, mkdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { buildWhenNeeded, installDependencies, root } from './setup.mjs';

const home = join(root, '.halite');
const bin = join(root, 'bin');
const minions = [
  { id: 'web1', role: 'web' },
  { id: 'web2', role: 'web' },
  { id: 'db1', role: 'db' },
];
const color = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code, text) => (color ? `\x1b[${code}m${text}\x1b[0m` : text);
const say = (text) => console.log(`${paint('1;34', '▸')} ${text}`);

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function writeConfig(ports) {
  const etc = join(home, 'etc');
  mkdirSync(join(etc, 'master.d'), { recursive: true });
  for (const folder of ['srv/salt', 'srv/pillar', 'log']) mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(
    join(etc, 'master'),
    `# The playground's master. Everything lives below ${'root_dir'}.\nroot_dir: ${home}\ninterface: 127.0.0.1\npublish_port: ${ports.publish}\nret_port: ${ports.requests}\npki_dir: /etc/pki/master\ncachedir: /cache/master\nsock_dir: /run\nlog_file: /log/master\nkey_logfile: /log/key\npidfile: /run/master.pid\nfile_roots:\n  base:\n    - ${home}/srv/salt\npillar_roots:\n  base:\n    - ${home}/srv/pillar\nnodegroups:\n  webs: 'L@web1,web2'\n`,
  );
  for (const { id, role } of minions) {
    const folder = join(home, id, 'etc');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'minion'),
      `id: ${id}\nroot_dir: ${join(home, id)}\nmaster: 127.0.0.1\nmaster_port: ${ports.requests}\npki_dir: /pki\ncachedir: /cache\nsock_dir: /run\nlog_file: /log\npidfile: /minion.pid\nacceptance_wait_time: 1\ngrains:\n  role: ${role}\n`,
    );
  }
  writeFileSync(
    join(home, 'env'),
    `# Source this: . .halite/env\nexport PATH="${bin}:$PATH"\nexport SALT_CONFIG_DIR="${etc}"\nexport SALT_MASTER_CONFIG="${etc}/master"\n`,
  );
}

const children = [];
function daemon(name, args) {
  const log = join(home, 'log', `${name}.out`);
  writeFileSync(log, '');
  const child = spawn('/bin/sh', ['-c', `exec "$0" "$@" >"${log}" 2>&1`, join(bin, args[0]), ...args.slice(1)], {
    stdio: 'ignore',
  });
  child.on('exit', (code) => {
    if (stopping) return;
    // Here minions are stopped on purpose, to see the effect on the others and the master.
    if (ready && name !== 'master') {
      say(`${name} has ended; to start it again: salt-minion -c ${args[args.indexOf('-c') + 1]} -d`);
      return;
    }
    console.error(`${name} ended unexpectedly (exit ${code}); its output:\n${readFileSync(log, 'utf8')}`);
    stop(1);
  });
  children.push(child);
  follow(name, log);
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

/** A minion that the user stopped and started again manually is not a child process, but belongs here. */
function endRestarted(id) {
  try {
    const pid = Number(readFileSync(join(home, id, 'minion.pid'), 'utf8'));
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(home, id))) process.kill(pid, 'SIGTERM');
  } catch {
    // Not running.
  }
}

let stopping = false;
let ready = false;
function stop(code) {
  if (stopping) return;
  stopping = true;
  for (const child of children) child.kill('SIGTERM');
  for (const { id } of minions) endRestarted(id);
  const deadline = setTimeout(() => {
    for (const child of children) child.kill('SIGKILL');
  }, 5000);
  Promise.all(
    children.map((child) =>
      child.exitCode !== null || child.signalCode ? undefined : new Promise((resolve) => child.once('exit', resolve)),
    ),
  ).then(() => {
    clearTimeout(deadline);
    say('stopped');
    process.exit(code);
  });
}

function command(name, args) {
  console.log(
    `\n${paint('1', `$ ${name} ${args.map((arg) => (/[^\w./:=@-]/.test(arg) ? `'${arg}'` : arg)).join(' ')}`)}`,
  );
  const done = spawnSync(join(bin, name), ['-c', join(home, 'etc'), ...args], { encoding: 'utf8' });
  process.stdout.write(done.stdout + done.stderr);
  return done;
}

async function eventually(what, test, seconds = 60) {
  const deadline = Date.now() + seconds * 1000;
  while (!(await test())) {
    if (Date.now() > deadline) {
      console.error(`timed out waiting for ${what}`);
      stop(1);
      await new Promise(() => {});
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

process.on('SIGINT', () => stop(0));
process.on('SIGTERM', () => stop(0));

installDependencies(say);
buildWhenNeeded(say);
rmSync(home, { recursive: true, force: true });
const ports = { publish: await freePort(), requests: await freePort() };
writeConfig(ports);
say(`starting a master (ports ${ports.publish}, ${ports.requests}) and three minions in .halite/`);
daemon('master', ['salt-master', '-c', join(home, 'etc'), '-l', 'info']);
for (const { id } of minions) daemon(id, ['salt-minion', '-c', join(home, id, 'etc'), '-l', 'info']);

const pending = join(home, 'etc/pki/master/minions_pre');
await eventually('three keys to arrive', () => minions.every(({ id }) => existsSync(join(pending, id))));
say('three minions ask to be accepted; their fingerprints:');
command('salt-key', ['-F']);
command('salt-key', ['-A', '-y']);
const connected = () => {
  const done = spawnSync(
    join(bin, 'salt'),
    ['-c', join(home, 'etc'), '*', 'test.ping', '--out=json', '--static', '-t', '2'],
    { encoding: 'utf8' },
  );
  try {
    return Object.values(JSON.parse(done.stdout)).filter((value) => value === true).length === minions.length;
  } catch {
    return false;
  }
};
await eventually('the minions to sign in', connected);
command('salt', ['*', 'test.ping']);
command('salt', ['-G', 'role:web', 'cmd.run', 'echo "hello from $(hostname)"']);
command('salt', ['*', 'grains.item', 'os', 'role', 'kernelrelease']);
console.log('');
ready = true;
say('ready. In another terminal:');
console.log(`
    . .halite/env
    salt '*' test.ping
    salt -N webs cmd.run uptime
    salt-run jobs.list_jobs
    salt-key -L

  Ctrl-C here stops everything. What the daemons say follows.
`);
if (process.env.HALITE_START_ONCE) stop(0);
