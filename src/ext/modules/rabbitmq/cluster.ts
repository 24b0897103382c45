// Functions of `rabbitmq` for policies, federation, queues and clusters.
import {
  fn,
  invocationError,
  isDict,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';
import { comparePythonVersions } from '../../shared/pip/pep440.ts';
import { ask, good, outcome, rows, table } from './run.ts';

const runas = p.string({ default: null, doc: 'as this user' });
const vhost = p.string({ doc: 'the virtual host' });
const policy = p.string({ doc: 'the policy' });
const upstream = p.string({ doc: 'the upstream' });
const columns = p.rest({ doc: 'columns' });

/** Before 3.7 the columns had another order, and some were missing. */
function fields(parts: readonly string[], modern: boolean): PlainDict {
  const [, , a = '', b = '', c = '', d = ''] = parts;
  if (modern) return newDict(Object.entries({ pattern: a, apply_to: b, definition: c, priority: d }));
  return parts.length === 6
    ? newDict(Object.entries({ apply_to: a, pattern: b, definition: c, priority: d }))
    : newDict(Object.entries({ pattern: a, definition: b, priority: c }));
}

async function policies(host: string, runas: string | null, ctx: ModuleContext): Promise<Record<string, PlainDict>> {
  const text = good(await ask(ctx, ['list_policies', '-q', '-p', host], runas));
  const version = pyStr(await ctx.call('pkg.version', 'rabbitmq-server')).split('-')[0] ?? '';
  const modern = (comparePythonVersions(version, '3.7') ?? 0) >= 0;
  const found: Record<string, PlainDict> = newDict() as Record<string, PlainDict>;
  for (const row of rows(text)) {
    const parts = row.trim().split('\t');
    if (parts.length !== 5 && parts.length !== 6) continue;
    const [owner = '', name = ''] = parts;
    found[owner] ??= newDict();
    (found[owner] as PlainDict)[name] = fields(parts, modern);
  }
  return found;
}

async function upstreams(runas: string | null, ctx: ModuleContext): Promise<PlainDict> {
  const { stdout } = await ask(ctx, ['list_parameters', '-q'], runas);
  return newDict(
    rows(stdout).map((row) => {
      const [, name = '', definition = ''] = row.split('\t');
      return [name, definition];
    }),
  );
}

/** A command that only prints text. */
const step = (verb: string, doc: string) =>
  fn({
    doc,
    examples: [`salt '*' rabbitmq.${verb}`],
    params: { runas },
    run: async (args, ctx) => good(await ask(ctx, [verb], args.runas)),
  });

export const policyFunctions = {
  list_policies: fn({
    doc: 'Policies by virtual host and name.',
    examples: ["salt '*' rabbitmq.list_policies"],
    params: { vhost: p.string({ default: '/', doc: 'the virtual host' }), runas },
    run: (args, ctx) => policies(args.vhost, args.runas, ctx),
  }),
  policy_exists: fn({
    doc: 'Whether a policy exists.',
    examples: ["salt '*' rabbitmq.policy_exists / ha"],
    params: { vhost, name: policy, runas },
    async run(args, ctx) {
      return args.name in ((await policies(args.vhost, args.runas, ctx))[args.vhost] ?? newDict());
    },
  }),
  set_policy: fn({
    doc: 'Makes or changes a policy.',
    examples: ["salt '*' rabbitmq.set_policy / ha '.*' '{\"ha-mode\": \"all\"}'"],
    params: {
      vhost,
      name: policy,
      pattern: p.string({ doc: 'pattern of queue or exchange names' }),
      definition: p.any({ doc: 'dictionary, or JSON text; the function refuses anything else' }),
      priority: p.scalar({ default: null, doc: 'priority; the highest wins' }),
      runas,
      apply_to: p.scalar({ default: null, doc: 'queues, exchanges or all' }),
    },
    async run(args, ctx) {
      const definition = isDict(args.definition) ? dumpJson(args.definition) : args.definition;
      if (typeof definition !== 'string')
        throw invocationError("The 'definition' argument must be a dictionary or JSON string");
      const options = [
        ...(isTruthy(args.priority) ? ['--priority', pyStr(args.priority)] : []),
        ...(isTruthy(args.apply_to) ? ['--apply-to', pyStr(args.apply_to)] : []),
      ];
      const argv = ['set_policy', '-p', args.vhost, ...options, args.name, args.pattern, definition];
      return outcome(await ask(ctx, argv, args.runas), 'Set');
    },
  }),
  delete_policy: fn({
    doc: 'Removes a policy.',
    examples: ["salt '*' rabbitmq.delete_policy / ha"],
    params: { vhost, name: policy, runas },
    run: async (args, ctx) =>
      outcome(await ask(ctx, ['clear_policy', '-p', args.vhost, args.name], args.runas), 'Deleted'),
  }),
};

const upstreamOptions = {
  prefetch_count: p.scalar({ default: null, doc: 'prefetch count' }),
  reconnect_delay: p.scalar({ default: null, doc: 'seconds before a reconnection' }),
  ack_mode: p.scalar({ default: null, doc: 'how messages are acknowledged' }),
  trust_user_id: p.scalar({ default: null, doc: 'preserve the user id of a message' }),
  exchange: p.scalar({ default: null, doc: 'the upstream exchange' }),
  max_hops: p.scalar({ default: null, doc: 'maximum number of hops' }),
  expires: p.scalar({ default: null, doc: 'when the upstream queue expires' }),
  message_ttl: p.scalar({ default: null, doc: 'time to live of messages upstream' }),
  ha_policy: p.scalar({ default: null, doc: 'high availability policy of the upstream queue' }),
  queue: p.scalar({ default: null, doc: 'the upstream queue' }),
};

export const clusterFunctions = {
  join_cluster: fn({
    doc: 'Makes this server a node of a cluster.',
    examples: ["salt '*' rabbitmq.join_cluster mq1.example.com rabbit"],
    params: {
      host: p.string({ doc: 'a node of it' }),
      user: p.string({ default: 'rabbit', doc: 'name in front of the host' }),
      ram_node: p.truthy({ default: null, doc: 'keep tables in memory only' }),
      runas,
    },
    async run(args, ctx) {
      good(await ask(ctx, ['stop_app'], args.runas));
      const argv = ['join_cluster', ...(args.ram_node ? ['--ram'] : []), `${args.user}@${args.host}`];
      const joined = await ask(ctx, argv, args.runas);
      good(await ask(ctx, ['start_app'], args.runas));
      return outcome(joined, 'Join');
    },
  }),
  stop_app: step('stop_app', 'Stops the application, not its node.'),
  start_app: step('start_app', 'Starts the application.'),
  reset: step('reset', 'Makes the node forget everything.'),
  force_reset: step('force_reset', 'The same, whatever state the node is in.'),
  list_queues: fn({
    doc: 'Queues with the requested columns.',
    examples: ["salt '*' rabbitmq.list_queues"],
    params: { runas, args: columns },
    run: async ({ runas: user, args }, ctx) =>
      table(good(await ask(ctx, ['list_queues', '-q', ...args.map(pyStr)], user))),
  }),
  list_queues_vhost: fn({
    doc: 'Queues of a virtual host with the requested columns.',
    examples: ["salt '*' rabbitmq.list_queues_vhost /web"],
    params: { vhost, runas, args: columns },
    run: async ({ vhost: host, runas: user, args }, ctx) =>
      table(good(await ask(ctx, ['list_queues', '-q', '-p', host, ...args.map(pyStr)], user))),
  }),
  list_upstreams: fn({
    doc: 'Federation upstreams with their settings.',
    examples: ["salt '*' rabbitmq.list_upstreams"],
    params: { runas },
    run: (args, ctx) => upstreams(args.runas, ctx),
  }),
  upstream_exists: fn({
    doc: 'Whether an upstream exists.',
    examples: ["salt '*' rabbitmq.upstream_exists up"],
    params: { name: upstream, runas },
    run: async (args, ctx) => args.name in (await upstreams(args.runas, ctx)),
  }),
  set_upstream: fn({
    doc: 'Makes or changes an upstream.',
    examples: ["salt '*' rabbitmq.set_upstream up amqp://mq.example.com"],
    params: { name: upstream, uri: p.string({ doc: 'its address' }), ...upstreamOptions, runas },
    async run({ name, uri, runas: user, ...options }, ctx) {
      const given = Object.entries(options).filter(([, value]) => isTruthy(value));
      const settings = newDict([
        ['uri', uri],
        ...given.map(([key, v]): [string, Value] => [key.replaceAll('_', '-'), v]),
      ]);
      good(await ask(ctx, ['set_parameter', 'federation-upstream', name, dumpJson(settings)], user));
      return true;
    },
  }),
  delete_upstream: fn({
    doc: 'Removes an upstream.',
    examples: ["salt '*' rabbitmq.delete_upstream up"],
    params: { name: upstream, runas },
    async run(args, ctx) {
      good(await ask(ctx, ['clear_parameter', 'federation-upstream', args.name], args.runas));
      return true;
    },
  }),
};
