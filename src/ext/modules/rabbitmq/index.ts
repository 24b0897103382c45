// Execution module `rabbitmq`: users, virtual hosts and permissions of a message server.
import { randomInt } from 'node:crypto';
import { defineModule, fn, type ModuleContext, oneOrMore, p, type Value } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { clusterFunctions, policyFunctions } from './cluster.ts';
import { ask, good, keyed, outcome, rows, table, tagList } from './run.ts';

const runas = p.string({ default: null, doc: 'as this user' });
const name = p.string({ doc: 'the user' });
const vhost = p.string({ doc: 'the virtual host' });
const plugin = p.string({ doc: 'the plugin' });

const users = async (ctx: ModuleContext, runas: string | null) =>
  table(good(await ask(ctx, ['list_users', '-q'], runas)), tagList);
const vhosts = async (ctx: ModuleContext, runas: string | null): Promise<string[]> =>
  rows(good(await ask(ctx, ['list_vhosts', '-q'], runas))).flatMap((row) => row.split(/\s+/));
const plugins = async (ctx: ModuleContext, runas: string | null, args: readonly string[]): Promise<string[]> =>
  rows(good(await ask(ctx, ['list', '-m', ...args], runas, 'rabbitmq-plugins'))).map((row) => row.trim());

/** RabbitMQ requires a password; without one, a random password is set and cleared again. */
async function addWithoutPassword(user: string, runas: string | null, ctx: ModuleContext): Promise<Value> {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
  const secret = Array.from({ length: 15 }, () => letters.charAt(randomInt(letters.length))).join('');
  const added = await ask(ctx, ['add_user', user, secret], runas);
  try {
    good(await ask(ctx, ['clear_password', user], runas));
  } catch (error) {
    await ask(ctx, ['delete_user', user], runas);
    throw error;
  }
  return outcome(added, 'Added');
}

const userFunctions = {
  list_users: fn({
    doc: 'Users with their tags.',
    examples: ["salt '*' rabbitmq.list_users"],
    params: { runas },
    run: (args, ctx) => users(ctx, args.runas),
  }),
  user_exists: fn({
    doc: 'Whether a user exists.',
    examples: ["salt '*' rabbitmq.user_exists larry"],
    params: { name, runas },
    run: async (args, ctx) => args.name in (await users(ctx, args.runas)),
  }),
  add_user: fn({
    doc: 'Adds a user, with a password or without.',
    examples: ["salt '*' rabbitmq.add_user larry secret"],
    params: { name, password: p.string({ default: null, doc: 'the password' }), runas },
    async run(args, ctx) {
      if (args.password === null) return addWithoutPassword(args.name, args.runas, ctx);
      return outcome(await ask(ctx, ['add_user', args.name, args.password], args.runas), 'Added');
    },
  }),
  delete_user: fn({
    doc: 'Removes a user.',
    examples: ["salt '*' rabbitmq.delete_user larry"],
    params: { name, runas },
    run: async (args, ctx) => outcome(await ask(ctx, ['delete_user', args.name], args.runas), 'Deleted'),
  }),
  change_password: fn({
    doc: 'Sets the password of a user.',
    examples: ["salt '*' rabbitmq.change_password larry secret"],
    params: { name, password: p.string({ doc: 'the password' }), runas },
    run: async (args, ctx) =>
      outcome(await ask(ctx, ['change_password', args.name, args.password], args.runas), 'Password Changed'),
  }),
  clear_password: fn({
    doc: 'Clears the password of a user.',
    examples: ["salt '*' rabbitmq.clear_password larry"],
    params: { name, runas },
    run: async (args, ctx) => outcome(await ask(ctx, ['clear_password', args.name], args.runas), 'Password Cleared'),
  }),
  check_password: fn({
    doc: 'Whether a password is correct.',
    examples: ["salt '*' rabbitmq.check_password larry secret"],
    params: { name, password: p.string({ doc: 'the password' }), runas },
    async run(args, ctx) {
      const { retcode, stderr } = await ask(ctx, ['authenticate_user', args.name, args.password], args.runas);
      return retcode === 0 && stderr === '';
    },
  }),
  set_user_tags: fn({
    doc: 'Sets the tags of a user.',
    examples: ["salt '*' rabbitmq.set_user_tags larry administrator"],
    params: { name, tags: p.strings({ doc: 'one or several' }), runas },
    run: async (args, ctx) => {
      const tags = oneOrMore(args.tags);
      return outcome(await ask(ctx, ['set_user_tags', args.name, ...tags], args.runas), 'Tag(s) set');
    },
  }),
};

const hostFunctions = {
  list_vhosts: fn({
    doc: 'Virtual hosts.',
    examples: ["salt '*' rabbitmq.list_vhosts"],
    params: { runas },
    run: (args, ctx) => vhosts(ctx, args.runas),
  }),
  vhost_exists: fn({
    doc: 'Whether a virtual host exists.',
    examples: ["salt '*' rabbitmq.vhost_exists /web"],
    params: { name: vhost, runas },
    run: async (args, ctx) => (await vhosts(ctx, args.runas)).includes(args.name),
  }),
  add_vhost: fn({
    doc: 'Adds a virtual host.',
    examples: ["salt '*' rabbitmq.add_vhost /web"],
    params: { vhost, runas },
    run: async (args, ctx) => outcome(await ask(ctx, ['add_vhost', args.vhost], args.runas), 'Added'),
  }),
  delete_vhost: fn({
    doc: 'Removes a virtual host.',
    examples: ["salt '*' rabbitmq.delete_vhost /web"],
    params: { vhost, runas },
    run: async (args, ctx) => outcome(await ask(ctx, ['delete_vhost', args.vhost], args.runas), 'Deleted'),
  }),
  set_permissions: fn({
    doc: 'Sets the permissions of a user on a virtual host.',
    examples: ["salt '*' rabbitmq.set_permissions / larry"],
    params: {
      vhost,
      user: p.string({ doc: 'the user' }),
      conf: p.string({ default: '.*', doc: 'names the user may configure' }),
      write: p.string({ default: '.*', doc: 'names the user may write to' }),
      read: p.string({ default: '.*', doc: 'names the user may read from' }),
      runas,
    },
    run: async ({ vhost, user, conf, write, read, runas }, ctx) =>
      outcome(await ask(ctx, ['set_permissions', '-p', vhost, user, conf, write, read], runas), 'Permissions Set'),
  }),
  list_permissions: fn({
    doc: 'Permissions on a virtual host, by user.',
    examples: ["salt '*' rabbitmq.list_permissions /web"],
    params: { vhost, runas },
    run: async (args, ctx) =>
      keyed((await ask(ctx, ['list_permissions', '--formatter=json', '-p', args.vhost], args.runas)).stdout, 'user'),
  }),
  list_user_permissions: fn({
    doc: 'Permissions of a user, by virtual host.',
    examples: ["salt '*' rabbitmq.list_user_permissions larry"],
    params: { name, runas },
    run: async (args, ctx) =>
      keyed((await ask(ctx, ['list_user_permissions', args.name, '--formatter=json'], args.runas)).stdout, 'vhost'),
  }),
};

const serverFunctions = {
  status: fn({
    doc: 'State of the server.',
    examples: ["salt '*' rabbitmq.status"],
    params: { runas },
    run: async (args, ctx) => good(await ask(ctx, ['status'], args.runas)),
  }),
  cluster_status: fn({
    doc: 'State of the cluster.',
    examples: ["salt '*' rabbitmq.cluster_status"],
    params: { runas },
    run: async (args, ctx) => good(await ask(ctx, ['cluster_status'], args.runas)),
  }),
  list_available_plugins: fn({
    doc: 'Available plugins.',
    examples: ["salt '*' rabbitmq.list_available_plugins"],
    params: { runas },
    run: (args, ctx) => plugins(ctx, args.runas, []),
  }),
  list_enabled_plugins: fn({
    doc: 'Enabled plugins.',
    examples: ["salt '*' rabbitmq.list_enabled_plugins"],
    params: { runas },
    run: (args, ctx) => plugins(ctx, args.runas, ['-e']),
  }),
  plugin_is_enabled: fn({
    doc: 'Whether a plugin is enabled.',
    examples: ["salt '*' rabbitmq.plugin_is_enabled rabbitmq_management"],
    params: { name: plugin, runas },
    run: async (args, ctx) => (await plugins(ctx, args.runas, ['-e'])).includes(args.name),
  }),
  enable_plugin: fn({
    doc: 'Enables a plugin.',
    examples: ["salt '*' rabbitmq.enable_plugin rabbitmq_management"],
    params: { name: plugin, runas },
    run: async (args, ctx) => outcome(await ask(ctx, ['enable', args.name], args.runas, 'rabbitmq-plugins'), 'Enabled'),
  }),
  disable_plugin: fn({
    doc: 'Disables a plugin.',
    examples: ["salt '*' rabbitmq.disable_plugin rabbitmq_management"],
    params: { name: plugin, runas },
    run: async (args, ctx) =>
      outcome(await ask(ctx, ['disable', args.name], args.runas, 'rabbitmq-plugins'), 'Disabled'),
  }),
};

export default defineModule({
  name: 'rabbitmq',
  doc: 'Users, virtual hosts and permissions of a message server.',
  available: () => which('rabbitmqctl') !== null || 'Module rabbitmq: module only works when RabbitMQ is installed',
  reads: [
    'list_users',
    'user_exists',
    'check_password',
    'list_vhosts',
    'vhost_exists',
    'list_permissions',
    'list_user_permissions',
    'status',
    'cluster_status',
    'list_available_plugins',
    'list_enabled_plugins',
    'plugin_is_enabled',
    'list_queues',
    'list_queues_vhost',
    'list_upstreams',
    'upstream_exists',
    'list_policies',
    'policy_exists',
  ],
  functions: { ...userFunctions, ...hostFunctions, ...serverFunctions, ...clusterFunctions, ...policyFunctions },
});
