// Networks, volumes and registries of Docker.
import {
  cleanKwargs,
  dictEntries,
  fn,
  isDict,
  type ModuleContext,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { lines } from 'halite/sdk/text';
import { docker, inspect, plainOf, texts } from './cli.ts';

const name = p.string({ doc: 'its name' });

/** Options of a network: driver, addresses, … */
function networkArgs(given: PlainDict): string[] {
  const {
    driver,
    internal,
    attachable,
    enable_ipv6,
    options,
    driver_opts,
    labels,
    subnet,
    gateway,
    ip_range,
    iprange,
    ipam_driver,
    ipam_pools,
  } = cleanKwargs(given) as Partial<Record<string, Value>>;
  const each = (flag: string, value: Value | undefined): string[] => {
    if (value === undefined || value === null) return [];
    const list = isDict(value) ? dictEntries(value).map(([key, item]) => `${pyStr(key)}=${pyStr(item)}`) : texts(value);
    return list.flatMap((item) => [flag, item]);
  };
  const one = (flag: string, value: Value | undefined): string[] => (value ? [flag, pyStr(value)] : []);
  const pools = Array.isArray(ipam_pools)
    ? ipam_pools.map(plainOf)
    : [
        newDict(
          Object.entries({ subnet, gateway, iprange: iprange ?? ip_range }).filter(
            (entry): entry is [string, Value] => entry[1] !== undefined,
          ),
        ),
      ];
  return [
    ...one('--driver', driver),
    ...(internal ? ['--internal'] : []),
    ...(attachable ? ['--attachable'] : []),
    ...(enable_ipv6 ? ['--ipv6'] : []),
    ...one('--ipam-driver', ipam_driver),
    ...pools.flatMap((pool) => [
      ...one('--subnet', pool['subnet']),
      ...one('--gateway', pool['gateway']),
      ...one('--ip-range', pool['iprange']),
    ]),
    ...each('--opt', options ?? driver_opts),
    ...each('--label', labels),
  ];
}

function connectArgs(given: PlainDict): string[] {
  const { ipv4_address, ipv6_address, aliases, links } = given as Partial<Record<string, Value>>;
  return [
    ...(ipv4_address ? ['--ip', pyStr(ipv4_address)] : []),
    ...(ipv6_address ? ['--ip6', pyStr(ipv6_address)] : []),
    ...texts(aliases ?? null).flatMap((alias) => ['--alias', alias]),
    ...texts(links ?? null).flatMap((link) => ['--link', link]),
  ];
}

const networkId = p.string({ doc: 'the network' });
const container = p.string({ doc: 'the container' });

export const networkFunctions = {
  networks: fn({
    doc: 'The networks.',
    examples: ['salt myminion docker.networks'],
    params: {
      names: p.strings({ default: null, split: ',', falsy: null, doc: 'only these' }),
      ids: p.strings({ default: null, split: ',', falsy: null, doc: 'only these' }),
    },
    async run(args, ctx) {
      const ids = lines(await docker(['network', 'ls', '--quiet', '--no-trunc'], ctx));
      if (ids.length === 0) return [];
      const all = loadJson(await docker(['network', 'inspect', ...ids], ctx)) as Value[];
      const [wanted, numbers] = [texts(args.names), texts(args.ids)];
      return all.map(plainOf).filter((one) => {
        const [called, id] = [pyStr(one['Name'] ?? ''), pyStr(one['Id'] ?? '')];
        return (wanted.length === 0 || wanted.includes(called)) && (numbers.length === 0 || numbers.includes(id));
      });
    },
  }),
  inspect_network: fn({
    doc: 'Details of a network.',
    examples: ['salt myminion docker.inspect_network web'],
    params: { network_id: networkId },
    run: (args, ctx) => inspect('network', args.network_id, ctx),
  }),
  create_network: fn({
    doc: 'Creates a network.',
    examples: ['salt myminion docker.create_network web driver=bridge subnet=10.7.0.0/24'],
    params: {
      name,
      kwargs: p.kwargs({ doc: 'driver, internal, subnet, gateway, iprange, options, labels, enable_ipv6' }),
    },
    run: async (args, ctx) =>
      newDict([['Id', (await docker(['network', 'create', ...networkArgs(args.kwargs), args.name], ctx)).trim()]]),
  }),
  remove_network: fn({
    doc: 'Removes a network.',
    examples: ['salt myminion docker.remove_network web'],
    params: { network_id: networkId },
    async run(args, ctx) {
      await docker(['network', 'rm', args.network_id], ctx);
      return true;
    },
  }),
  connected: fn({
    doc: 'The containers in a network.',
    examples: ['salt myminion docker.connected web'],
    params: { name, verbose: p.bool({ default: false, doc: 'with details' }) },
    async run(args, ctx) {
      const all = plainOf((await inspect('network', args.name, ctx))['Containers']);
      const named = newDict(Object.values(all).map((one) => [pyStr(plainOf(one)['Name'] ?? ''), one]));
      return args.verbose ? named : Object.keys(named);
    },
  }),
  connect_container_to_network: fn({
    doc: 'Connects a container to a network.',
    examples: ['salt myminion docker.connect_container_to_network web1 web ipv4_address=10.7.0.5'],
    params: { container, net_id: networkId, kwargs: p.kwargs({ doc: 'ipv4_address, ipv6_address, aliases, links' }) },
    async run(args, ctx) {
      await docker(['network', 'connect', ...connectArgs(args.kwargs), args.net_id, args.container], ctx);
      return true;
    },
  }),
  disconnect_container_from_network: fn({
    doc: 'Disconnects a container from a network.',
    examples: ['salt myminion docker.disconnect_container_from_network web1 web'],
    params: { container, network_id: networkId },
    async run(args, ctx) {
      await docker(['network', 'disconnect', '--force', args.network_id, args.container], ctx);
      return true;
    },
  }),
};

export const volumeFunctions = {
  volumes: fn({
    doc: 'The volumes.',
    examples: ['salt myminion docker.volumes'],
    params: { filters: p.ignored({ default: null, doc: 'no effect' }) },
    async run(_args, ctx) {
      const names = lines(await docker(['volume', 'ls', '--quiet'], ctx));
      const all = names.length === 0 ? [] : loadJson(await docker(['volume', 'inspect', ...names], ctx));
      return newDict([['Volumes', all]]);
    },
  }),
  create_volume: fn({
    doc: 'Creates a volume.',
    examples: ['salt myminion docker.create_volume data driver=local'],
    params: {
      name,
      driver: p.string({ default: null, falsy: null, doc: 'its driver' }),
      driver_opts: p.dict({ default: null, falsy: null, doc: 'options of it' }),
    },
    async run(args, ctx) {
      const options = isDict(args.driver_opts) ? dictEntries(args.driver_opts) : [];
      const words = [
        ...(args.driver ? ['--driver', args.driver] : []),
        ...options.flatMap(([key, value]) => ['--opt', `${pyStr(key)}=${pyStr(value)}`]),
      ];
      await docker(['volume', 'create', ...words, args.name], ctx);
      return inspect('volume', args.name, ctx);
    },
  }),
  remove_volume: fn({
    doc: 'Removes a volume.',
    examples: ['salt myminion docker.remove_volume data'],
    params: { name },
    async run(args, ctx) {
      await docker(['volume', 'rm', args.name], ctx);
      return true;
    },
  }),
  inspect_volume: fn({
    doc: 'Details of a volume.',
    examples: ['salt myminion docker.inspect_volume data'],
    params: { name },
    run: (args, ctx) => inspect('volume', args.name, ctx),
  }),
};

/** Names and passwords: `docker-registries` and every `*-docker-registries`. */
async function registries(ctx: ModuleContext): Promise<PlainDict> {
  const main = plainOf(await ctx.call('config.get', 'docker-registries', newDict()));
  const more = plainOf(await ctx.callWith('config.option', ['*-docker-registries'], { wildcard: true }));
  return Object.assign(newDict(Object.entries(main)), ...Object.values(more).map(plainOf)) as PlainDict;
}

export const registryFunctions = {
  login: fn({
    doc: 'Logs in to registries, with the names and passwords of the pillar `docker-registries`.',
    examples: ['salt myminion docker.login', 'salt myminion docker.login hub'],
    params: { registries: p.rest({ doc: 'only these' }) },
    async run(args, ctx) {
      const known = await registries(ctx);
      const [results, errors] = [newDict(), [] as string[]];
      for (const registry of args.registries.length > 0 ? args.registries.map(pyStr) : Object.keys(known)) {
        const { username, password } = plainOf(known[registry]) as Partial<Record<string, Value>>;
        if (known[registry] === undefined) errors.push(`No match found for registry '${registry}'`);
        else if (username === undefined || password === undefined)
          errors.push(`Missing '${username === undefined ? 'username' : 'password'}' for registry '${registry}'`);
        else {
          const where = registry.toLowerCase() === 'hub' ? [] : [registry];
          try {
            // Through standard input, because every user can see arguments.
            await docker(['login', '--username', pyStr(username), '--password-stdin', ...where], ctx, pyStr(password));
            results[registry] = true;
          } catch (error) {
            results[registry] = false;
            errors.push(messageOf(error));
          }
        }
      }
      return newDict([
        ['retcode', errors.length > 0 ? 1 : 0],
        ['Errors', errors],
        ['Results', results],
      ]);
    },
  }),
  logout: fn({
    doc: 'Logs out of registries.',
    examples: ['salt myminion docker.logout hub'],
    params: { registries: p.rest({ doc: 'only these' }) },
    async run(args, ctx) {
      const results = newDict();
      const names = args.registries.length > 0 ? args.registries.map(pyStr) : Object.keys(await registries(ctx));
      for (const registry of names) {
        await docker(['logout', ...(registry.toLowerCase() === 'hub' ? [] : [registry])], ctx);
        results[registry] = true;
      }
      return newDict([
        ['retcode', 0],
        ['Errors', []],
        ['Results', results],
      ]);
    },
  }),
};
