// State module `firewalld`: zones and services of the firewall.
import {
  defineState,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  state,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { isExpected } from '../shared/calls.ts';
import { zonePresent } from './zone.ts';

const texts = (value: Value): string[] => (Array.isArray(value) ? value.map(pyStr) : value ? [pyStr(value)] : []);

/** Makes ports or protocols of a service those asked for. */
async function bring(
  kind: 'port' | 'protocol',
  name: string,
  wanted: string[],
  isThere: boolean,
  changes: PlainDict,
  ctx: StateContext,
): Promise<void> {
  const current = isThere ? texts(await ctx.call(`firewalld.get_service_${kind}s`, name)) : [];
  const fresh = wanted.filter((item) => !current.includes(item));
  const stale = current.filter((item) => !wanted.includes(item));
  if (!ctx.test) {
    for (const item of fresh) await ctx.call(`firewalld.add_service_${kind}`, name, item);
    for (const item of stale) await ctx.call(`firewalld.remove_service_${kind}`, name, item);
  }
  if (fresh.length > 0 || stale.length > 0)
    changes[`${kind}s`] = newDict(Object.entries({ old: current, new: wanted }));
}

const service = state({
  doc: 'A service of ports and protocols.',
  examples: ['mine:\n  firewalld.service:\n    - ports: [8080/tcp]\n    - protocols: [igmp]'],
  params: {
    name: p.string({ doc: 'the service' }),
    ports: p.oneOf(['list', 'string'], { default: null, doc: 'ports with protocol' }),
    protocols: p.oneOf(['list', 'string'], { default: null, doc: 'protocols' }),
  },
  async run({ name, ports, protocols }, ctx) {
    const changes = newDict();
    try {
      const known = texts(await ctx.call('firewalld.get_services')).includes(name);
      if (!known && !ctx.test) await ctx.callWith('firewalld.new_service', [name], newDict([['restart', false]]));
      const isThere = known || !ctx.test;
      await bring('port', name, texts(ports), isThere, changes, ctx);
      await bring('protocol', name, texts(protocols), isThere, changes, ctx);
    } catch (error) {
      if (!isExpected(error)) throw error;
      return ctx.fail(`Error: ${messageOf(error)}`, { changes });
    }
    if (Object.keys(changes).length === 0) return ctx.ok(`'${name}' is already in the desired state.`);
    if (ctx.test) return ctx.result({ result: null, comment: `Configuration for '${name}' will change.`, changes });
    await ctx.call('firewalld.reload_rules');
    return ctx.ok(`'${name}' was configured.`, { changes });
  },
});

export default defineState({
  name: 'firewalld',
  doc: 'Zones and services of the firewall.',
  available: () =>
    which('firewall-cmd') !== null || 'firewall-cmd is not available, firewalld is probably not installed.',
  functions: { present: zonePresent, service },
});
