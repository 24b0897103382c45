// A machine in namespaces of its own: a folder with a system as its root, with systemd as its first process or without. It
// needs root, and takes the mirror of this machine's apt.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './run.mjs';

const namespaces = '--mount --pid --uts --ipc --net --cgroup --fork --kill-child --propagation private'.split(' ');

/** $1: the folder, $2: a group of processes for it, $3: its name; then what becomes its first process. */
const begin = `set -eu
root=$1 name=$2; shift 2
read -r pid _ </proc/self/stat
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
# The kernel's settings and its modules are those of everybody.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=0755 none "$root/dev"
for device in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "$root/dev/\${device%:*}" c 1 "\${device#*:}"; done
mknod -m 666 "$root/dev/tty" c 5 0
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
: >"$root/dev/console"
for folder in dev/shm run tmp; do mount -t tmpfs -o mode=1777 none "$root/$folder"; done
chmod 0755 "$root/run"
hostname "$name"
ip link set lo up
cd "$root"
mkdir -p mnt/.outside
pivot_root . mnt/.outside
umount -l /mnt/.outside
rmdir /mnt/.outside
echo "$pid" >&3
exec 3>&-
exec setpriv --bounding-set=-sys_module,-sys_time,-sys_rawio -- "$@" </dev/null
`;

/** $1: the name of the group that the rest runs in, so that systemd sees no other one. */
const grouped = `set -eu
name=$1 at=/run/$1; shift
mkdir "$at"
mount -t cgroup2 none "$at"
mkdir "$at/$name"
echo $$ >"$at/$name/cgroup.procs"
umount "$at"
rmdir "$at"
exec "$@"
`;
const ungroup = `at=/run/$1
mkdir "$at" && mount -t cgroup2 none "$at" && find "$at/$1" -depth -type d -exec rmdir {} +
umount "$at" && rmdir "$at"
`;

/** The mirror this machine's apt uses for a distribution: registries are configuration of the machine. */
function mirror(label) {
  const words = ['indextargets', '--format', '$(LABEL) $(REPO_URI)', 'Created-By: Packages'];
  const found = run('apt-get', words)
    .split('\n')
    .find((line) => line.startsWith(`${label} `));
  if (!found) throw new Error(`no mirror of ${label} in the configuration of apt: name one with --mirror`);
  return found.split(' ')[1];
}

/** A system in `folder`, made once by debootstrap. */
export function baseSystem(folder, { suite, packages, from }) {
  if (existsSync(join(folder, '.complete'))) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const words = ['--variant=minbase', '--no-check-gpg', `--include=${packages.join(',')}`];
  run('debootstrap', [...words, suite, folder, from ?? mirror('Debian')], { stdio: ['ignore', 'ignore', 'inherit'] });
  // What a container's image has to keep packages from starting services does not belong here.
  rmSync(join(folder, 'usr/sbin/policy-rc.d'), { force: true });
  writeFileSync(join(folder, '.complete'), '');
}

export class Machine {
  #child;
  #group;

  /** `files`: put into the system before it begins; `booted`: with systemd. */
  constructor(name, base, folder, { booted, files = [] }) {
    Object.assign(this, { name, folder, booted });
    rmSync(folder, { recursive: true, force: true });
    run('cp', ['-a', '--reflink=auto', base, folder]);
    rmSync(join(folder, '.complete'));
    // Each has an identity of its own.
    for (const file of ['etc/machine-id', 'var/lib/dbus/machine-id']) rmSync(join(folder, file), { force: true });
    writeFileSync(join(folder, 'etc/machine-id'), '');
    writeFileSync(join(folder, 'etc/hostname'), `${name}\n`);
    writeFileSync(join(folder, 'etc/hosts'), `127.0.0.1 localhost ${name}\n`);
    for (const unit of [
      'console-getty',
      'getty@tty1',
      'ssh',
      'ssh.socket',
      'apt-daily.timer',
      'apt-daily-upgrade.timer',
    ]) {
      const file = join(folder, 'etc/systemd/system', unit.includes('.') ? unit : `${unit}.service`);
      mkdirSync(join(file, '..'), { recursive: true });
      symlinkSync('/dev/null', file);
    }
    for (const [from, to] of files) cpSync(from, join(folder, to), { recursive: true });
  }

  /** Until its first process runs. */
  async begin() {
    this.#group = `halite-${process.pid}-${this.name}`;
    const first = this.booted ? ['/lib/systemd/systemd', '--unit=multi-user.target'] : ['sleep', 'infinity'];
    const system = ['sh', '-c', begin, 'sh', this.folder, this.name, 'env', 'container=halite', ...first];
    const words = ['-c', grouped, 'sh', this.#group, 'unshare', ...namespaces, ...system];
    this.#child = spawn('sh', words, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
    let wrong = '';
    this.#child.stderr.on('data', (text) => {
      wrong += text;
    });
    this.pid = await new Promise((done, failed) => {
      let said = '';
      this.#child.stdio[3].on('data', (text) => {
        said += text;
        if (said.endsWith('\n')) done(Number(said));
      });
      this.#child.once('error', failed);
      this.#child.once('exit', (code) => failed(new Error(`${this.name} did not begin (${code}): ${wrong}`)));
    });
    const ready = this.booted ? 'systemctl is-active multi-user.target' : 'true';
    for (let tries = 0; this.sh(ready).status !== 0; tries++) {
      if (tries > 100) throw new Error(`${this.name} does not answer`);
      await sleep(200);
    }
  }

  /** Runs a script inside; `input` for its standard input. */
  sh(script, { input = '', seconds = 300 } = {}) {
    const words = [
      '--target',
      String(this.pid),
      '--mount',
      '--pid',
      '--net',
      '--uts',
      '--ipc',
      '--cgroup',
      '--',
      'sh',
      '-c',
      script,
    ];
    const env = {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/root',
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
    };
    const done = spawnSync('nsenter', words, {
      encoding: 'utf8',
      env,
      input,
      timeout: seconds * 1000,
      maxBuffer: 1 << 26,
    });
    return { status: done.status, said: `${done.stdout ?? ''}${done.stderr ?? ''}`, out: done.stdout ?? '' };
  }

  /** Everything in it ends with its first process. */
  async end() {
    const ended = new Promise((done) => this.#child.once('exit', done));
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      process.kill(this.pid, 'SIGKILL');
      await ended;
    }
    spawnSync('sh', ['-c', ungroup, 'sh', this.#group]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A cable between two machines. */
export function connect(one, other, [oneAddress, otherAddress]) {
  run('ip', [
    'link',
    'add',
    'eth0',
    'netns',
    String(one.pid),
    'type',
    'veth',
    'peer',
    'name',
    'eth0',
    'netns',
    String(other.pid),
  ]);
  for (const [machine, address] of [
    [one, oneAddress],
    [other, otherAddress],
  ]) {
    const inside = ['--target', String(machine.pid), '--net', '--', 'ip'];
    run('nsenter', [...inside, 'addr', 'add', `${address}/24`, 'dev', 'eth0']);
    run('nsenter', [...inside, 'link', 'set', 'eth0', 'up']);
  }
}
