// State module `docker_network`: networks of Docker.
import {
  cleanKwargs,
  defineState,
  dictEntries,
  isDict,
  messageOf,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';

async function known(name: string, ctx: StateContext): Promise<PlainDict | undefined> {
  try {
    return textKeyed(await ctx.call('docker.inspect_network', name));
  } catch (error) {
    if (messageOf(error).includes('404')) return undefined;
    throw error;
  }
}

const asTexts = (value: Value): string[] =>
  isDict(value)
    ? dictEntries(value).map(([key, item]) => `${pyStr(key)}=${pyStr(item)}`)
    : Array.isArray(value)
      ? value.flatMap(asTexts)
      : [pyStr(value)];

/** The requested address pools. */
function pools(wanted: PlainDict): PlainDict[] {
  const list = wanted['ipam_pools'];
  if (Array.isArray(list)) return list.map(textKeyed);
  const own = newDict(
    ['subnet', 'gateway', 'iprange'].flatMap((key) => (wanted[key] ? [[key, wanted[key] as Value]] : [])) as [
      string,
      Value,
    ][],
  );
  return Object.keys(own).length > 0 ? [own] : [];
}

/** Properties of a network that differ from the requested ones. */
function differences(now: PlainDict, wanted: PlainDict): PlainDict {
  const found = newDict();
  const check = (key: string, want: Value | undefined, have: Value | undefined): void => {
    if (want === undefined || want === null || pyStr(want) === pyStr(have ?? null)) return;
    found[key] = newDict([
      ['old', have ?? null],
      ['new', want],
    ]);
  };
  check('Driver', wanted['driver'], now['Driver']);
  for (const [key, name] of [
    ['internal', 'Internal'],
    ['attachable', 'Attachable'],
    ['enable_ipv6', 'EnableIPv6'],
  ] as const)
    check(name, wanted[key] === undefined ? undefined : Boolean(wanted[key]), Boolean(now[name]));
  for (const [key, name] of [
    ['options', 'Options'],
    ['driver_opts', 'Options'],
    ['labels', 'Labels'],
  ] as const) {
    const want = wanted[key];
    const have = asTexts(now[name] ?? newDict()).sort();
    if (want !== undefined && want !== null) check(name, asTexts(want).sort(), have);
  }
  const ipam = textKeyed(now['IPAM'])['Config'];
  const configured = (Array.isArray(ipam) ? ipam : []).map(textKeyed);
  for (const pool of pools(wanted)) {
    const have = configured.find((one) => one['Subnet'] === pool['subnet']) ?? newDict();
    check('Subnet', pool['subnet'], have['Subnet']);
    check('Gateway', pool['gateway'], have['Gateway']);
    check('IPRange', pool['iprange'], have['IPRange']);
  }
  return found;
}

const members = (network: PlainDict | undefined): Map<string, string> =>
  new Map(
    Object.entries(textKeyed(network?.['Containers'])).map(([id, one]) => [id, pyStr(textKeyed(one)['Name'] ?? id)]),
  );

/** Ids and names of the requested containers that run, and warnings about the others. */
async function wantedMembers(
  containers: Value,
  ctx: StateContext,
): Promise<{ ids: Map<string, string>; warnings: string[] }> {
  const names = Array.isArray(containers) ? containers.map(pyStr) : containers ? pyStr(containers).split(',') : [];
  const ids = new Map<string, string>();
  const [missing, stopped]: [string[], string[]] = [[], []];
  for (const name of names) {
    const info = textKeyed(await ctx.call('docker.inspect_container', name).catch(() => null));
    if (info['Id'] === undefined) missing.push(name);
    else if (textKeyed(info['State'])['Running']) ids.set(pyStr(info['Id']), name);
    else stopped.push(name);
  }
  const say = (text: string, list: string[]): string[] => (list.length > 0 ? [`${text}: ${list.join(', ')}.`] : []);
  return {
    ids,
    warnings: [
      ...say('The following containers do not exist', missing),
      ...say('The following containers are not running', stopped),
    ],
  };
}

async function removeNetwork(network: PlainDict, ctx: StateContext): Promise<string[]> {
  const name = pyStr(network['Name'] ?? '');
  const gone: string[] = [];
  for (const [id, label] of members(network)) {
    await ctx.call('docker.disconnect_container_from_network', id, name);
    gone.push(label);
  }
  await ctx.call('docker.remove_network', name);
  return gone;
}

interface Wanted {
  readonly name: string;
  readonly containers: Value;
  readonly reconnect: boolean;
  readonly kwargs: PlainDict;
}

async function present(args: Wanted, ctx: StateContext): Promise<StateResult> {
  const { name } = args;
  const now = await known(name, ctx);
  const options = cleanKwargs(args.kwargs);
  const { ids, warnings } = await wantedMembers(args.containers, ctx);
  const extra = warnings.length > 0 ? { warnings } : {};
  const differing = now ? differences(now, options) : newDict();
  const replaced = Object.keys(differing).length > 0;
  const before = members(now);
  const toConnect = new Map([...ids].filter(([id]) => replaced || !before.has(id)));
  if (replaced && args.containers === null && args.reconnect)
    for (const [id, label] of before) toConnect.set(id, label);
  if (now && !replaced && toConnect.size === 0)
    return ctx.ok(`Network '${name}' already exists, and is configured as specified`, extra);
  const changes = newDict(replaced ? [[name, differing]] : []);
  return ctx.change(changes, '', {
    test: !now
      ? 'Network will be created'
      : replaced
        ? 'Network would be recreated with new config'
        : `Containers would be connected to network '${name}'`,
    async apply() {
      if (replaced && now) await removeNetwork(now, ctx);
      if (!now || replaced) {
        try {
          await ctx.callWith('docker.create_network', [name], options);
        } catch (error) {
          return ctx.fail(`Failed to create network '${name}': ${messageOf(error)}`);
        }
        changes[now ? 'recreated' : 'created'] = true;
      }
      for (const [id, label] of toConnect) {
        await ctx.call('docker.connect_container_to_network', id, name);
        const key = before.has(id) ? 'reconnected' : 'connected';
        changes[key] = [...((changes[key] as Value[] | undefined) ?? []), label];
      }
      const said = !now
        ? `Network '${name}' created`
        : replaced
          ? `Network '${name}' was replaced with updated config`
          : `Network '${name}' already exists, and is configured as specified`;
      return ctx.ok(said, { changes, ...extra });
    },
  });
}

const guarded = async (ctx: StateContext, work: () => Promise<StateResult>): Promise<StateResult> => {
  try {
    return await work();
  } catch (error) {
    return ctx.fail(messageOf(error));
  }
};
const name = p.string({ doc: 'the network' });

export default defineState({
  name: 'docker_network',
  doc: 'Networks of Docker.',
  available: needsFunction('docker.version', 'docker module could not be loaded'),
  functions: {
    present: state({
      doc: 'A network that must exist, with these containers in it.',
      examples: ['web:\n  docker_network.present:\n    - driver: bridge\n    - subnet: 10.7.0.0/24'],
      params: {
        name,
        skip_translate: p.ignored({ default: null, doc: 'no effect' }),
        ignore_collisions: p.bool({ default: false, doc: 'no effect' }),
        validate_ip_addrs: p.bool({ default: true, doc: 'no effect' }),
        containers: p.oneOf(['list', 'string', 'dict'], { default: null, doc: 'containers in it' }),
        reconnect: p.bool({ default: true, doc: 'reconnect containers when it is replaced' }),
        kwargs: p.kwargs({
          doc: 'driver, internal, subnet, gateway, iprange, ipam_pools, options, labels, enable_ipv6',
        }),
      },
      run: (args, ctx) => guarded(ctx, () => present(args, ctx)),
    }),
    absent: state({
      doc: 'A network that must not exist.',
      examples: ['web:\n  docker_network.absent'],
      params: { name },
      run: (args, ctx) =>
        guarded(ctx, async () => {
          const network = await known(args.name, ctx);
          if (!network) return ctx.ok(`Network '${args.name}' already absent`);
          return ctx.change(newDict(), '', {
            test: `Network '${args.name}' will be removed`,
            async apply() {
              const gone = await removeNetwork(network, ctx);
              const changes = newDict([
                ...(gone.length > 0 ? [['disconnected', gone] as [string, Value]] : []),
                ['removed', true],
              ]);
              return ctx.ok(`Removed network '${args.name}'`, { changes });
            },
          });
        }),
    }),
  },
});
