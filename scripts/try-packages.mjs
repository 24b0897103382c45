// `npm run try-packages -- --packages FOLDER [--newer FOLDER]`: two fresh machines (network namespaces, debootstrap) get a
// master and a minion from packages: bootstrap, first job, services, upgrade during a job, removal, purge; each step with its
// time. `--suite bookworm|trixie|noble`, `--mirror URL`, `--without-systemd`, `--rpm`, `--folder DIR`. Needs root.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { baseSystem, connect, Machine } from './package/machine.mjs';
import { run } from './package/run.mjs';
import { debianStandIn, rpmStandIn } from './package/stand-in.mjs';

const { values } = parseArgs({
  options: {
    ...{ packages: { type: 'string', default: 'packages' }, newer: { type: 'string' }, mirror: { type: 'string' } },
    ...{
      suite: { type: 'string', default: 'bookworm' },
      // Not below /tmp, where another user could have put a system in its place.
      folder: { type: 'string', default: join(homedir(), '.cache', 'halite-try') },
    },
    ...{ 'without-systemd': { type: 'boolean', default: false }, rpm: { type: 'boolean', default: false } },
  },
});
const booted = !values['without-systemd'];
const format = values.rpm ? 'rpm' : 'deb';
const [older, newer] = [resolve(values.packages), values.newer && resolve(values.newer)];
const addresses = ['10.78.0.1', '10.78.0.2'];
const included = [
  'ca-certificates',
  'openssh-server',
  'iproute2',
  'logrotate',
  'procps',
  ...(values.rpm ? ['rpm'] : []),
];
/** Errors that were printed. */
const said = new Set();
let failed = false;

/** One step: prints its time and what it showed; a failed one ends everything. Returns its seconds. */
async function step(name, work) {
  const begun = performance.now();
  let shown = '';
  try {
    const found = await work();
    shown = typeof found === 'string' ? found : '';
  } catch (error) {
    shown = `FAILED: ${error.message}`;
    said.add(error);
    throw error;
  } finally {
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(
      `${seconds.padStart(6)} s  ${name}${shown === '' ? '' : `\n${shown.trim().replace(/^/gm, '          ')}`}`,
    );
  }
  return (performance.now() - begun) / 1000;
}

function must(machine, script, wanted) {
  const { status, said, out } = machine.sh(script);
  if (status !== 0) throw new Error(`${machine.name}: ${script}: ended with ${status}\n${said}`);
  if (wanted && !wanted.test(said)) throw new Error(`${machine.name}: ${script}: no ${wanted} in\n${said}`);
  return out;
}

async function until(what, check, seconds = 90) {
  for (const end = Date.now() + seconds * 1000; ; await sleep(200)) {
    const found = check();
    if (found) return found;
    if (Date.now() > end) throw new Error(`${what}: not within ${seconds} s`);
  }
}

const service = (verb, name) => (booted ? `systemctl ${verb} salt-${name}` : `/etc/init.d/salt-${name} ${verb}`);
const install = (from, words) => `sh /usr/share/bootstrap.sh --from ${from} ${words}`;
const answer = (master, id) => master.sh(`salt -t 5 ${id} test.ping --out=txt`).out.trim() === `${id}: True`;
const packageOf = (machine, name) =>
  must(machine, values.rpm ? `rpm -q ${name}` : `dpkg-query -W -f '\${Package} \${Version}' ${name}`).trim();

async function firstAnswer(master, minion) {
  const first = await step('install a master: bootstrap.sh --from /packages master', () => {
    const said = must(master, install('/packages/older', 'master'));
    return /the fingerprint of this master.*/.exec(said)?.[0] ?? packageOf(master, 'halite-master');
  });
  await step('no installation: salt-run bootstrap.minion … --dry-run', () => {
    const said = must(master, `${put} --dry-run`, /would run bootstrap.sh --master/);
    must(minion, '! command -v salt-call && ! test -e /etc/salt');
    return said;
  });
  const second = await step('put a minion on the other machine: salt-run bootstrap.minion, over ssh', () =>
    must(master, put).split('\n').slice(-4).join('\n'),
  );
  const third = await step('the first answer: salt web1 test.ping', () =>
    until('an answer', () => answer(master, 'web1')),
  );
  console.log(`${(first + second + third).toFixed(1).padStart(6)} s  in all: three commands, two bare machines`);
}
const put = `salt-run bootstrap.minion ${addresses[1]} id=web1 packages=/packages/older ssh=/root/ssh priv=/root/key`;

async function services(master, minion) {
  await step('the state of the services', () =>
    [
      must(master, booted ? 'systemctl status salt-master | sed -n 1,12p' : service('status', 'master')),
      must(minion, booted ? 'systemctl status salt-minion | sed -n 1,12p' : service('status', 'minion')),
    ].join('\n'),
  );
  await step('reload: what is taken over, and what needs a restart', () => {
    must(
      master,
      `printf 'worker_threads: 7\\nnodegroups: {some: "web*"}\\n' >/etc/salt/master.d/try.conf; chmod 644 /etc/salt/master.d/try.conf; ${service('reload', 'master')}`,
    );
    return until('the report', () => {
      const found = master.sh('grep "changed options" /var/log/salt/master').out;
      return /need a restart.*worker_threads/.test(found) && /taken over.*nodegroups/.test(found) && found;
    });
  });
  await step('logrotate: new logs, no restart', async () => {
    const before = must(master, booted ? 'systemctl show -P MainPID salt-master' : 'cat /run/salt-master.pid');
    must(master, 'logrotate -f /etc/logrotate.d/halite');
    await until(
      'new logs',
      () => master.sh('test -s /var/log/salt/master.1 && test -e /var/log/salt/master').status === 0,
    );
    if (must(master, booted ? 'systemctl show -P MainPID salt-master' : 'cat /run/salt-master.pid') !== before)
      throw new Error('restarted');
  });
  if (!booted) return;
  await step('a hanging minion is ended by the watchdog', async () => {
    must(
      minion,
      `mkdir -p /run/systemd/system/salt-minion.service.d; printf '[Service]\\nWatchdogSec=6\\n' >/run/systemd/system/salt-minion.service.d/try.conf; systemctl daemon-reload; systemctl restart salt-minion`,
    );
    must(minion, 'kill -STOP "$(systemctl show -P MainPID salt-minion)"');
    await until('a restart', () => must(minion, 'systemctl show -P NRestarts salt-minion').trim() !== '0');
    await until('an answer', () => answer(master, 'web1'));
    must(minion, 'rm -r /run/systemd/system/salt-minion.service.d; systemctl daemon-reload');
    return must(minion, 'journalctl -u salt-minion | grep -i watchdog | tail -n 2');
  });
  await step('systemd-analyze security', () =>
    must(
      master,
      'for unit in salt-master salt-api salt-syndic; do systemd-analyze security --no-pager $unit.service | tail -n 1; done',
    ),
  );
}

const job = (name) =>
  `salt --async web1 cmd.run 'touch /tmp/begun-${name}; while ! test -e /tmp/go-${name}; do sleep 0.1; done; echo through-${name}' python_shell=True`;

/** A job that runs while something else happens. */
async function duringJob(master, minion, name, work) {
  const [jid] = /\d{20}/.exec(must(master, job(name))) ?? [];
  await until('the job to begin', () => minion.sh(`test -e /tmp/begun-${name}`).status === 0);
  const shown = await work();
  must(minion, `touch /tmp/go-${name}`);
  await until('its result', () =>
    master.sh(`salt-run jobs.lookup_jid ${jid} --out=json`).out.includes(`through-${name}`),
  );
  return shown;
}

async function upgrades(master, minion) {
  await step('a restart of the minion during a job', () =>
    duringJob(master, minion, 'restart', () => must(minion, service('restart', 'minion'))),
  );
  if (!newer) return;
  await step('upgrade of the master', async () => {
    must(master, install('/packages/newer', 'master'));
    await until('an answer', () => answer(master, 'web1'));
    return packageOf(master, 'halite-master');
  });
  const kind =
    format === 'deb' ? /^halite-(runtime|common|minion)_.*\.deb$/ : /^halite-(runtime|common|minion)-.*\.rpm$/;
  const list = (which, folder) => {
    const names = readdirSync(folder).filter((name) => kind.test(name) && /amd64|x86_64/.test(name));
    return `'[${names.map((name) => `salt://${which}/${name}`).join(', ')}]'`;
  };
  const version = /[-_](\d[\w.~+]*?)[-_]/.exec(list('newer', newer).split('halite-minion')[1])?.[1];
  must(
    master,
    `mkdir -p /srv/salt; ln -sf /packages/older /packages/newer /srv/salt/; printf 'wrong:\\n  test.fail_without_changes: []\\n' >/srv/salt/wrong.sls`,
  );
  const upgrade = `salt-run fleet.upgrade web1 version=halite.${version} package=${list('newer', newer)} old_package=${list('older', older)}`;
  await step('fleet.upgrade: back to the old packages where a state fails', () => {
    const { said } = master.sh(`${upgrade} state=wrong`);
    if (!/web1:\s+returned: the state wrong fails/.test(said)) throw new Error(said);
    return said;
  });
  await step('fleet.upgrade during a job', () =>
    duringJob(master, minion, 'upgrade', () => must(master, upgrade, /web1:\s+upgraded/)),
  );
  await step(
    'what is installed then',
    () => `${packageOf(minion, 'halite-minion')}\n${must(master, 'salt web1 test.version')}`,
  );
}

async function removal(master, minion) {
  const remove = (names) =>
    values.rpm ? `rpm -e ${names}` : `apt-get remove -y ${names} && apt-get purge -y ${names}`;
  await step('remove and purge: keys and configuration stay', () => {
    must(minion, remove('halite-minion halite-common halite-runtime'));
    must(master, remove('halite-master halite-common halite-runtime'));
    must(minion, 'test ! -e /usr/bin/salt-call; test ! -e /usr/lib/halite');
    return must(minion, 'ls /etc/salt/pki/minion') + must(master, 'ls /etc/salt/pki/master');
  });
  await step("takes the place of Salt's package: its configuration, an enabled service", async () => {
    must(minion, values.rpm ? rpmStandIn : debianStandIn);
    must(minion, `${install('/packages/older', '--no-start minion')}`);
    const running = booted ? 'systemctl is-active salt-minion' : '/etc/init.d/salt-minion status';
    if (minion.sh(running).status === 0) throw new Error('started in spite of --no-start');
    must(minion, install('/packages/older', 'minion'));
    must(minion, running);
    if (booted) must(minion, 'systemctl is-enabled salt-minion', /^enabled/);
    return must(minion, 'cat /etc/salt/minion', /of the administrator/);
  });
  if (values.rpm) return;
  await step("Salt's package takes its place back", () => {
    must(minion, 'apt-get install -y /root/salt-minion.deb');
    must(minion, '! dpkg -s halite-minion 2>/dev/null | grep -q "ok installed"');
    if (booted) must(minion, 'systemctl is-active salt-minion; systemctl show -P ExecStart salt-minion', /sleep/);
    must(minion, 'apt-get purge -y salt-minion');
  });
  await step('again, and purge with HALITE_PURGE_KEYS=yes: nothing stays', async () => {
    must(minion, install('/packages/older', 'minion'));
    must(minion, 'HALITE_PURGE_KEYS=yes apt-get purge -y halite-minion halite-common halite-runtime');
    return must(minion, 'ls -d /etc/salt /var/cache/salt /var/log/salt 2>&1 || true');
  });
}

/** Debian with the packages of others: what ours need is said to be there, and the system calls itself another one. */
const asRpmSystem = `set -e
printf 'ID=fedora\\n' >/etc/os-release
printf '#!/bin/sh\\nexec /usr/bin/rpm --force-debian "$@"\\n' >/usr/local/bin/rpm
chmod 755 /usr/local/bin/rpm
cd /root
cat >system.spec <<'END'
Name: system
Version: 1
Release: 1
Summary: what is here already
License: none
BuildArch: noarch
Provides: libc.so.6(GLIBC_2.28)(64bit) libstdc++.so.6()(64bit) ca-certificates /bin/sh /usr/sbin/useradd
%description
What is here already.
%files
END
rpmbuild -bb --define '_rpmdir /root' system.spec
rpm -i --nodeps noarch/system-1-1.noarch.rpm
`;

function prepare(base, name, files) {
  const folder = join(values.folder, `${name}-${process.pid}`);
  return new Machine(name, base, folder, { booted, files });
}

if (process.getuid?.() !== 0) throw new Error('only root can make such machines');
const base = join(values.folder, `base-${values.suite}-${booted ? 'systemd' : 'plain'}-${format}`);
mkdirSync(values.folder, { recursive: true });
const keys = join(values.folder, `keys-${process.pid}`);
mkdirSync(keys, { mode: 0o700 });
const made = [];
try {
  await step(`a bare ${values.suite}${booted ? ' with systemd' : ''}`, () =>
    baseSystem(base, {
      suite: values.suite,
      packages: [...included, ...(booted ? ['systemd', 'systemd-sysv', 'dbus'] : [])],
      from: values.mirror,
    }),
  );
  for (const name of ['key', 'host']) run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(keys, name)]);
  run('sh', ['-c', `echo "${addresses[1]} $(cat "$1/host.pub")" >"$1/known"`, 'sh', keys]);
  writeFileSync(join(keys, 'ssh'), 'Host *\n  UserKnownHostsFile /root/known\n');
  const script = resolve('packaging/bootstrap.sh');
  const both = [
    [older, 'packages/older'],
    [script, 'usr/share/bootstrap.sh'],
  ];
  const master = prepare(base, 'master', [
    ...both,
    ...(newer ? [[newer, 'packages/newer']] : []),
    ...['key', 'known', 'ssh'].map((name) => [join(keys, name), `root/${name}`]),
  ]);
  const minion = prepare(base, 'minion', [
    ...both,
    [join(keys, 'key.pub'), 'root/.ssh/authorized_keys'],
    [join(keys, 'host'), 'root/host'],
  ]);
  made.push(master, minion);
  await step('two machines', async () => {
    await master.begin();
    await minion.begin();
    connect(master, minion, addresses);
    if (values.rpm) for (const machine of made) must(machine, asRpmSystem);
    must(
      minion,
      `mkdir -p /run/sshd; /usr/sbin/sshd -o HostKey=/root/host -o ListenAddress=${addresses[1]} -o UsePAM=no`,
    );
  });
  await firstAnswer(master, minion);
  await services(master, minion);
  await upgrades(master, minion);
  await removal(master, minion);
} catch (error) {
  failed = true;
  if (!said.has(error)) console.error(error);
  for (const machine of made)
    if (machine.pid)
      console.log(machine.sh('tail -n 30 /var/log/salt/* 2>/dev/null; journalctl -n 40 --no-pager 2>/dev/null').said);
} finally {
  for (const machine of made) if (machine.pid) await machine.end();
  rmSync(keys, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
