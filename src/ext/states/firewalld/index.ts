// State module `firewalld`: zones and services of the firewall.
import { type ChangeSet, changeSet, defineState, p, pyStr, type StateContext, state, type Value } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { zonePresent } from './zone.ts';

const texts = (value: Value): string[] => (Array.isArray(value) ? value.map(pyStr) : value ? [pyStr(value)] : []);

/** Sets the ports or protocols of a service. */
async function bring(
  kind: 'port' | 'protocol',
  name: string,
  wanted: string[],
  isThere: boolean,
  set: ChangeSet,
  ctx: StateContext,
): Promise<void> {
  const current = isThere ? texts(await ctx.call(`firewalld.get_service_${kind}s`, name)) : [];
  const fresh = wanted.filter((item) => !current.includes(item));
  const stale = current.filter((item) => !wanted.includes(item));
  for (const item of fresh) await set.part({ change: () => ctx.call(`firewalld.add_service_${kind}`, name, item) });
  for (const item of stale) await set.part({ change: () => ctx.call(`firewalld.remove_service_${kind}`, name, item) });
  if (fresh.length > 0 || stale.length > 0) set.changes[`${kind}s`] = { old: current, new: wanted };
}

const service = state({
  doc: 'A service of ports and protocols.',
  examples: ['mine:\n  firewalld.service:\n    - ports: [8080/tcp]\n    - protocols: [igmp]'],
  params: {
    name: p.string({ doc: 'the service' }),
    ports: p.oneOf(['list', 'string'], { default: null, doc: 'ports with protocol' }),
    protocols: p.oneOf(['list', 'string'], { default: null, doc: 'protocols' }),
  },
  run: ({ name, ports, protocols }, ctx) =>
    changeSet(ctx, {
      async each(set) {
        const known = texts(await ctx.call('firewalld.get_services')).includes(name);
        if (!known) await set.run(() => ctx.callWith('firewalld.new_service', [name], { restart: false }));
        // Under test a new service does not exist yet and cannot be queried.
        const isThere = known || !ctx.test;
        await bring('port', name, texts(ports), isThere, set, ctx);
        await bring('protocol', name, texts(protocols), isThere, set, ctx);
        if (set.isChanged) await set.run(() => ctx.call('firewalld.reload_rules'));
      },
      right: `'${name}' is already in the desired state.`,
      would: `Configuration for '${name}' will change.`,
      done: `'${name}' was configured.`,
      error: (message) => `Error: ${message}`,
    }),
});

export default defineState({
  name: 'firewalld',
  doc: 'Zones and services of the firewall.',
  available: () =>
    which('firewall-cmd') !== null || 'firewall-cmd is not available, firewalld is probably not installed.',
  functions: { present: zonePresent, service },
});
