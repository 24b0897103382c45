// Roster `clustershell`: the target itself names hosts, with ranges such as `web[1-10,21],db[01-03]`.
import { defineRoster, dictOf, HaliteError, newDict } from 'halite/sdk';
import { expandNodes } from '../shared/rosters/node-set.ts';
import { openPort, portsOf } from '../shared/rosters/ports.ts';

export default defineRoster({
  name: 'clustershell',
  doc: 'Hosts named by the target in the form of ClusterShell; the first open port of `ssh_scan_ports` is used.',
  async targets({ tgt }, ctx) {
    const names = expandNodes(typeof tgt === 'string' ? tgt : tgt.join(','));
    if (names.some((name) => name.startsWith('@')))
      throw new HaliteError('target.syntax', 'Groups of ClusterShell (@name) are not available');
    const ports = portsOf(ctx.opts);
    const found = await Promise.all(
      names.map(async (name) => {
        const port = await openPort(name, ports, ctx);
        return [name, newDict([['host', name], ...(port ? [['port', port] as const] : [])])] as const;
      }),
    );
    return dictOf(found);
  },
});
