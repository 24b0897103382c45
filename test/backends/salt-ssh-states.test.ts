// The same tree of states on two equal systems: applied by salt-ssh over sshd on one, by salt-call on the other.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { halite } from '../support/deployment.ts';
import { type DisposableSystem, disposableObstacle } from '../support/disposable.ts';
import { isMissing } from '../support/prepared.ts';
import { applyTree, type Outcomes, preparedSystem, quietCall, shortName } from '../support/real-states.ts';
import { preparedProgram } from '../support/servers/server.ts';

const obstacle = disposableObstacle();
if (obstacle) isMissing(`disposable system (${obstacle})`);
const sshd = preparedProgram('sshd', 'openssh-server');

/** For an sshd inside, which each connection starts: the states close ports. $1: the folder of Node. */
const setUp = `set -e
mkdir -p /run/sshd /srv/ssh
for name in host own; do ssh-keygen -q -t ed25519 -N '' -f "/srv/ssh/$name"; done
cp /srv/ssh/own.pub /srv/ssh/authorized
echo "127.0.0.1 $(cut -d' ' -f1,2 /srv/ssh/host.pub)" > /srv/ssh/known
cat > /srv/ssh/config <<X
UsePAM no
StrictModes no
AuthorizedKeysFile /srv/ssh/authorized
SetEnv PATH=$1:/usr/sbin:/usr/bin:/sbin:/bin
X
`;
const options = [
  'UserKnownHostsFile=/srv/ssh/known',
  'GlobalKnownHostsFile=/dev/null',
  'ProxyCommand=/usr/sbin/sshd -i -f /srv/ssh/config -h /srv/ssh/host',
];
const roster = `real: {host: 127.0.0.1, priv: /srv/ssh/own, ssh_options: ${JSON.stringify(options)}}\n`;
const command = [join(halite.bin, 'salt-ssh'), '-c', '/srv/ssh', '--out=json', '--log-level=quiet', 'real'];

/** What differs between any two runs: process ids, times, the order in which a file system lists. */
const withoutRunData = (text: string): string => text.replaceAll(/\b\d{2,}\b/g, 'N');

/** What each state did, in the order of the run. */
const told = (run: Outcomes): [string, boolean | null, string, string[]][] =>
  Object.entries(run).map(([tag, { result, comment, changes }]) => {
    return [shortName(tag), result, withoutRunData(comment), Object.keys(changes).sort()];
  });

describe.skipIf(obstacle !== undefined || !sshd)('states over salt-ssh', () => {
  const systems: DisposableSystem[] = [];
  beforeAll(async () => {
    systems.push(...(await Promise.all([preparedSystem(), preparedSystem()])));
    const [overSsh] = systems as [DisposableSystem];
    const config = await overSsh.run(['sed', '-n', '/^file_roots/p;/^pillar_roots/p', '/etc/salt/minion']);
    overSsh.write({ '/srv/ssh/master': `user: root\n${config.stdout}`, '/srv/ssh/roster': roster });
    const ready = await overSsh.run(['sh', '-c', setUp, 'sh', join(process.execPath, '..')]);
    if (ready.status !== 0) throw new Error(ready.stderr);
  });
  afterAll(() => Promise.all(systems.map((system) => system.destroy())));

  it('change the same as on a minion, and nothing the second time', async () => {
    const [overSsh, alone] = systems as [DisposableSystem, DisposableSystem];
    const [first, expected] = await Promise.all([
      applyTree(overSsh, command),
      applyTree(alone, quietCall(join(halite.bin, 'salt-call'))),
    ]);
    expect(told(first)).toEqual(told(expected));
    expect(Object.keys(first).length).toBeGreaterThan(80);
    const again = await applyTree(overSsh, command);
    const changed = Object.entries(again).filter(([, { changes }]) => Object.keys(changes).length > 0);
    // They do the same every time by their nature: the time of a file, the environment of a process.
    expect(changed.map(([tag]) => shortName(tag)).sort()).toEqual(['environ.setenv variable', 'file.touch touched']);
    expect(Object.values(again).filter(({ result }) => result !== true)).toEqual([]);
  });
});
