// salt-ssh inside a disposable system, with that system itself as its target.
import { dirname } from 'node:path';
import type { DisposableSystem } from './disposable.ts';

/** For an sshd that each connection starts: states may close ports. $1: the folder of Node. */
const setUp = `set -e
mkdir -p /run/sshd /srv/ssh
for name in host own; do ssh-keygen -q -t ed25519 -N '' -f "/srv/ssh/$name"; done
cp /srv/ssh/own.pub /srv/ssh/authorized
echo "127.0.0.1 $(cut -d' ' -f1,2 /srv/ssh/host.pub)" > /srv/ssh/known
cat > /srv/ssh/config <<X
UsePAM no
StrictModes no
AuthorizedKeysFile /srv/ssh/authorized
SetEnv PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$1
X
`;
const options = [
  'UserKnownHostsFile=/srv/ssh/known',
  'GlobalKnownHostsFile=/dev/null',
  'ProxyCommand=/usr/sbin/sshd -i -f /srv/ssh/config -h /srv/ssh/host',
];

/**
 * Gives the command that stands before a function. It has the roots of the minion's configuration there, which are on one
 * line each; `minionOpts` is a YAML map on one line.
 */
export async function sshInside(
  system: DisposableSystem,
  { saltSsh, id, minionOpts = '{}' }: { readonly saltSsh: string; readonly id: string; readonly minionOpts?: string },
): Promise<string[]> {
  const config = await system.run(['sed', '-n', '/^file_roots:/p;/^pillar_roots:/p', '/etc/salt/minion']);
  const roster = `${id}: {host: 127.0.0.1, priv: /srv/ssh/own, ssh_options: ${JSON.stringify(options)}, minion_opts: ${minionOpts}}\n`;
  system.write({ '/srv/ssh/master': `user: root\n${config.stdout}`, '/srv/ssh/roster': roster });
  const ready = await system.run(['sh', '-c', setUp, 'sh', dirname(process.execPath)]);
  if (ready.status !== 0) throw new Error(ready.stderr);
  return [saltSsh, '-c', '/srv/ssh', '--out=json', '--log-level=quiet', id];
}
