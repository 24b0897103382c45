// `npm run bare-root -- [--suite NAME] [--folder DIR] [--reuse] [tier…]`: runs `npm test` as the first command on a
// fresh Debian system that has only Node. Needs root and debootstrap. Tests the committed files.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { root as checkout } from './setup.mjs';

const { values, positionals: tiers } = parseArgs({
  allowPositionals: true,
  options: {
    suite: { type: 'string', default: 'bookworm' },
    folder: { type: 'string', default: join(tmpdir(), 'halite-bare-root') },
    /** Continues in the system of the last run, with the newest commit. */
    reuse: { type: 'boolean', default: false },
  },
});

/** The path of the checkout inside the system. */
const inside = '/srv/halite';
const base = join(values.folder, `base-${values.suite}`);
const system = join(values.folder, `run-${values.suite}`);

function fail(text) {
  console.error(text);
  process.exit(1);
}

function run(file, ...args) {
  const done = spawnSync(file, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (done.status !== 0) fail(`${file} ${args.join(' ')} failed${done.error ? `: ${done.error.message}` : ''}`);
}

function ask(file, ...args) {
  return (spawnSync(file, args, { encoding: 'utf8' }).stdout ?? '').trim();
}

/** The mirror this machine's apt uses: registries are configuration of the machine, never of this repository. */
function mirror() {
  const lines = ask('apt-get', 'indextargets', '--format', '$(ORIGIN) $(LABEL) $(REPO_URI)', 'Created-By: Packages');
  const found = lines.split('\n').find((line) => line.startsWith('Debian Debian '));
  if (!found) fail('no mirror of Debian in the configuration of apt (or apt-get update never ran)');
  return found.split(' ')[2];
}

/** Node as in its archive: the program, npm and the headers for add-ons. */
function copyNode() {
  const from = dirname(dirname(realpathSync(process.execPath)));
  const to = join(system, 'usr/local');
  cpSync(process.execPath, join(to, 'bin/node'), { dereference: true });
  cpSync(join(from, 'lib/node_modules/npm'), join(to, 'lib/node_modules/npm'), { recursive: true });
  if (existsSync(join(from, 'include/node')))
    cpSync(join(from, 'include/node'), join(to, 'include/node'), { recursive: true });
  run('ln', '-sf', '../lib/node_modules/npm/bin/npm-cli.js', join(to, 'bin/npm'));
}

/** Network access of this machine: host names, certificates. */
function copyNetwork() {
  for (const path of [
    '/etc/resolv.conf',
    '/etc/hosts',
    '/usr/local/share/ca-certificates',
    '/etc/ssl/certs/ca-certificates.crt',
  ])
    if (existsSync(path)) cpSync(path, join(system, path), { recursive: true, dereference: true });
}

function makeSystem() {
  if (!existsSync(join(base, 'etc/debian_version'))) {
    rmSync(base, { recursive: true, force: true });
    mkdirSync(base, { recursive: true });
    run('debootstrap', '--variant=minbase', values.suite, base, mirror());
  }
  rmSync(system, { recursive: true, force: true });
  run('cp', '-a', base, system);
  copyNode();
  copyNetwork();
}

function copyCheckout() {
  const to = join(system, inside);
  if (existsSync(to)) run('git', '-C', to, 'fetch', '--quiet', checkout, 'HEAD');
  else run('git', 'clone', '--quiet', '--no-hardlinks', '--no-checkout', checkout, to);
  run('git', '-C', to, 'checkout', '--quiet', '--force', '--detach', ask('git', '-C', checkout, 'rev-parse', 'HEAD'));
  run('chown', '-R', 'root:', to);
}

/** Package sources, as far as environment variables of this machine define them. */
function networkVariables() {
  const names =
    /^(.*_proxy|PIP_(CERT|INDEX_URL|DEFAULT_TIMEOUT)|npm_config_(registry|cafile)|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|GOPROXY)$/i;
  const own = Object.entries(process.env).filter(([name]) => names.test(name));
  const registry = ask('npm', 'config', 'get', 'registry');
  return { npm_config_registry: registry, ...Object.fromEntries(own) };
}

/**
 * Makes the folder the root of its own namespaces, with devices that affect nothing else. $1: the folder, then the
 * command.
 */
const enter = `set -eu
root=$1; shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=0755 none "$root/dev"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/zero" c 1 5
mknod -m 666 "$root/dev/full" c 1 7
mknod -m 666 "$root/dev/random" c 1 8
mknod -m 666 "$root/dev/urandom" c 1 9
mknod -m 666 "$root/dev/tty" c 5 0
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o mode=1777 none "$root/dev/shm"
mount -t tmpfs -o mode=0755 none "$root/run"
mkdir "$root/run/lock"
cd "$root"
mkdir -p mnt/.outside
pivot_root . mnt/.outside
umount -l /mnt/.outside
rmdir /mnt/.outside
cd ${inside}
exec "$@"
`;

if (process.getuid?.() !== 0) fail('Only root can create such a system.');
if (ask('sh', '-c', 'command -v debootstrap') === '') fail('debootstrap is missing: apt-get install debootstrap');
if (!values.reuse || !existsSync(system)) makeSystem();
copyCheckout();
const script = join(values.folder, 'enter.sh');
writeFileSync(script, enter);
const namespaces = '--mount --pid --uts --ipc --fork --kill-child --propagation private'.split(' ');
const variables = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  CI: 'true',
  HALITE_REQUIRE_ALL: '1',
  ...networkVariables(),
};
const command = ['npm', 'test', ...(tiers.length > 0 ? ['--', ...tiers] : [])];
console.log(`== ${command.join(' ')} in a fresh ${values.suite} (${system})`);
const done = spawnSync('unshare', [...namespaces, 'sh', script, system, ...command], {
  stdio: 'inherit',
  env: variables,
});
process.exit(done.status ?? 1);
