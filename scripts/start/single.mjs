// `npm start`: a master and three minions in a private folder, with first jobs answered; Ctrl-C stops everything.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
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
];

function writeMaster(ports) {
  const etc = join(home, 'etc');
  mkdirSync(join(etc, 'master.d'), { recursive: true });
  for (const folder of ['srv/salt', 'srv/pillar']) mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(
    join(etc, 'master'),
    `# The playground's master. Everything lives below ${'root_dir'}.\nroot_dir: ${home}\ninterface: 127.0.0.1\npublish_port: ${ports.publish}\nret_port: ${ports.requests}\npki_dir: /etc/pki/master\ncachedir: /cache/master\nsock_dir: /run\nlog_file: /log/master\nkey_logfile: /log/key\npidfile: /run/master.pid\nfile_roots:\n  base:\n    - ${home}/srv/salt\npillar_roots:\n  base:\n    - ${home}/srv/pillar\nnodegroups:\n  webs: 'L@web1,web2'\n`,
  );
  writeEnvironment(join(home, 'env'), etc);
  return etc;
}

const operator = 'operator';

/** The API with the console, for this machine only; one user who may do everything. */
function writeApi(etc, port, password) {
  const lines = [
    `sharedsecret: ${password}`,
    'external_auth:',
    `  sharedsecret: {${operator}: ['.*', '@runner', '@wheel']}`,
    'netapi_enable_clients: [local, local_async, runner, runner_async, wheel, wheel_async]',
    `api_pidfile: ${home}/run/api.pid`,
    `api_logfile: ${home}/log/api`,
    'halite_api:',
    '  host: 127.0.0.1',
    `  port: ${port}`,
    '  disable_ssl: True',
    '  console: True',
  ];
  writeFileSync(join(etc, 'master.d/api.conf'), `${lines.join('\n')}\n`, { mode: 0o600 });
}

/** A token of the operator, as soon as the API answers. */
async function logIn(playground, address, password) {
  let token;
  await playground.eventually('the API to answer', async () => {
    const body = JSON.stringify({ username: operator, password, eauth: 'sharedsecret' });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${address}/login`, { method: 'POST', headers, body }).catch(() => undefined);
    token = answer?.headers.get('x-auth-token') ?? undefined;
    return token !== undefined;
  });
  return token;
}

export async function startSingle() {
  const playground = new Playground();
  playground.begin();
  const ports = { publish: await freePort(), requests: await freePort(), api: await freePort() };
  const etc = writeMaster(ports);
  const password = randomBytes(9).toString('base64url');
  writeApi(etc, ports.api, password);
  say(`starting a master (ports ${ports.publish}, ${ports.requests}) and three minions in .halite/`);
  playground.daemon('master', join(bin, 'salt-master'), ['-c', etc, '-l', 'info']);
  for (const { id, role } of minions)
    startMinion(playground, id, writeMinion(id, role, [`127.0.0.1:${ports.requests}`]));
  const pending = join(etc, 'pki/master/minions_pre');
  await playground.eventually('three keys to arrive', () => minions.every(({ id }) => existsSync(join(pending, id))));
  say('three minions ask to be accepted; their fingerprints:');
  command(etc, 'salt-key', ['-F']);
  command(etc, 'salt-key', ['-A', '-y']);
  await playground.eventually('the minions to sign in', () => answering(etc) === minions.length);
  playground.daemon('api', join(bin, 'salt-api'), ['-c', etc, '-l', 'info'], {
    again: `salt-api -c ${etc} -d`,
    pidFile: join(home, 'run/api.pid'),
  });
  const address = `http://127.0.0.1:${ports.api}`;
  const token = await logIn(playground, address, password);
  command(etc, 'salt', ['*', 'test.ping']);
  command(etc, 'salt', ['-G', 'role:web', 'cmd.run', 'echo "hello from $(hostname)"']);
  command(etc, 'salt', ['*', 'grains.item', 'os', 'role', 'kernelrelease']);
  console.log('');
  playground.ready = true;
  say('ready. In another terminal:');
  console.log(`
    . .halite/env
    salt '*' test.ping
    salt -N webs cmd.run uptime
    salt-run jobs.list_jobs
    salt-key -L

  The console: ${address}/console/
    name ${operator}, password ${password}
  The API: curl -H 'Authorization: Bearer ${token}' ${address}/halite/v1/fleet

  Ctrl-C here stops everything. What the daemons say follows.
`);
  if (process.env.HALITE_START_ONCE) playground.stop(0);
}
