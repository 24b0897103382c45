// `npm start -- cluster`: three masters that work as one, each with its nats-server, and four minions that know all three.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  answering,
  bin,
  command,
  freePort,
  home,
  Playground,
  say,
  startMinion,
  writeEnvironment,
  writeMinion,
} from './playground.mjs';

const minions = [
  { id: 'web1', role: 'web' },
  { id: 'web2', role: 'web' },
  { id: 'db1', role: 'db' },
  { id: 'db2', role: 'db' },
];

/** Addresses of the three members; every port is free. */
async function planMasters() {
  const masters = [];
  for (const [at, id] of ['m1', 'm2', 'm3'].entries()) {
    const address = `127.0.0.${at + 1}`;
    const ports = [];
    for (let n = 0; n < 4; n++) ports.push(await freePort(address));
    const [publish, requests, nats, routes] = ports;
    masters.push({ id, address, publish, requests, nats, routes, root: join(home, id), etc: join(home, id, 'etc') });
  }
  return masters;
}

function writeMaster(master, masters) {
  const { id, address, publish, requests, nats, routes, root, etc } = master;
  mkdirSync(join(etc, 'master.d'), { recursive: true });
  // One tree for all of them: on several machines it comes from git, or from salt-run cluster.sync_roots.
  for (const folder of ['srv/salt', 'srv/pillar']) mkdirSync(join(home, folder), { recursive: true });
  const peers = masters.map((other) => `    - ${other.address}:${other.routes}\n`).join('');
  writeFileSync(
    join(etc, 'master'),
    `# Member ${id} of the playground's cluster.\nid: ${id}\nroot_dir: ${root}\ninterface: ${address}\npublish_port: ${publish}\nret_port: ${requests}\npki_dir: /etc/pki/master\ncachedir: /cache/master\nsock_dir: /run\nlog_file: /log/master\nkey_logfile: /log/key\npidfile: /run/master.pid\nfile_roots:\n  base:\n    - ${home}/srv/salt\npillar_roots:\n  base:\n    - ${home}/srv/pillar\nnodegroups:\n  webs: 'L@web1,web2'\ncluster:\n  name: playground\n  nats: managed\n  listen: ${address}:${nats}\n  routes_listen: ${address}:${routes}\n  peers:\n${peers}`,
  );
  writeEnvironment(join(home, `env-${id}`), etc);
}

/** The keys that all members share: made on the first one, and copied as between machines. */
function makeKeys(playground, [first, ...others]) {
  const pki = join(first.etc, 'pki/master');
  mkdirSync(pki, { recursive: true, mode: 0o700 });
  const steps = [
    ['salt-key', ['-c', first.etc, '--gen-keys=master', `--gen-keys-dir=${pki}`]],
    ['halite', ['-c', first.etc, 'cluster', 'init', 'playground', `nats://${first.address}:${first.nats}`]],
  ];
  for (const [name, args] of steps) {
    const done = spawnSync(join(bin, name), args, { encoding: 'utf8' });
    if (done.status === 0) continue;
    console.error(`${name} failed:\n${done.stdout}${done.stderr}`);
    playground.stop(1);
    return false;
  }
  for (const { etc } of others) {
    const to = join(etc, 'pki/master');
    mkdirSync(to, { recursive: true, mode: 0o700 });
    for (const file of ['master.pem', 'master.pub', 'cluster_bus.key']) cpSync(join(pki, file), join(to, file));
  }
  return true;
}

function hasNatsServer() {
  const places = [...(process.env.PATH ?? '').split(':'), '/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin'];
  return places.some((folder) => folder !== '' && existsSync(join(folder, 'nats-server')));
}

export async function startCluster() {
  if (!hasNatsServer()) {
    console.error(
      'Several masters talk through nats-server, and there is none in PATH. Install it (Debian, Ubuntu: apt-get install nats-server; else from your distribution or with Go: go install github.com/nats-io/nats-server/v2@latest) and run this again.',
    );
    process.exit(69);
  }
  const playground = new Playground();
  playground.begin();
  const masters = await planMasters();
  for (const master of masters) writeMaster(master, masters);
  if (!makeKeys(playground, masters)) return;
  const [m1, m2, m3] = masters;
  say('starting three masters (m1, m2, m3) with a nats-server each, and four minions, in .halite/');
  for (const { id, etc, root } of masters) {
    playground.daemon(id, join(bin, 'salt-master'), ['-c', etc, '-l', 'info'], {
      again: `salt-master -c ${etc} -d`,
      pidFile: join(root, 'run/master.pid'),
    });
  }
  const addresses = masters.map(({ address, requests }) => `${address}:${requests}`);
  for (const { id, role } of minions) startMinion(playground, id, writeMinion(id, role, addresses));
  const pending = join(m1.etc, 'pki/master/minions_pre');
  await playground.eventually(
    'four keys to arrive',
    () => minions.every(({ id }) => existsSync(join(pending, id))),
    120,
  );
  say('four minions ask to be accepted; accepted once on m1, for all:');
  command(m1.etc, 'salt-key', ['-A', '-y']);
  await playground.eventually(
    'the minions to sign in at all masters',
    () => masters.every(({ etc }) => answering(etc) === minions.length),
    120,
  );
  command(m2.etc, 'salt-key', ['-L']);
  for (const { etc } of masters) command(etc, 'salt', ['*', 'test.ping']);
  command(m3.etc, 'salt-run', ['jobs.list_jobs', '--out=yaml']);
  command(m1.etc, 'salt-run', ['cluster.status']);
  console.log('');
  playground.ready = true;
  say('ready. In another terminal (env-m1, env-m2 and env-m3 choose the master that commands talk to):');
  console.log(`
    . .halite/env-m1
    salt '*' test.sleep 20 &                     # a job of m1 …
    sleep 3; kill -9 $(cat .halite/m1/run/master.pid)   # … which dies
    . .halite/env-m2
    salt-run cluster.status                      # m2 and m3 go on
    salt-run jobs.list_jobs                      # the job of m1, with its results
    salt-master -c .halite/m1/etc -d             # m1 comes back

  Ctrl-C here stops everything. What the daemons say follows.
`);
  if (process.env.HALITE_START_ONCE) playground.stop(0);
}
