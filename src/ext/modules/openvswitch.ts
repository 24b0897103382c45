// Execution module `openvswitch`: bridges and ports of a virtual switch.
import {
  commandError,
  defineModule,
  fn,
  invocationError,
  isDict,
  isTruthy,
  type ModuleContext,
  newDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { dumpJson, loadJson } from 'halite/sdk/codec';
import { which } from 'halite/sdk/system';
import { isAddress } from './dig.ts';
import { type Answer, command } from './shared/command.ts';

const vsctl = (ctx: ModuleContext, ...argv: string[]): Promise<Answer> => command(ctx, ['ovs-vsctl', ...argv]);
const worked = async (answer: Promise<Answer>): Promise<boolean> => (await answer).retcode === 0;

/** The rows of its output; false when it failed. */
async function rows(answer: Promise<Answer>): Promise<string[] | false> {
  const { retcode, stdout } = await answer;
  return retcode === 0 ? stdout.split('\n') : false;
}

const exists = (br: string, ctx: ModuleContext): Promise<boolean> => worked(vsctl(ctx, 'br-exists', br));
const ports = (br: string, ctx: ModuleContext): Promise<string[] | false> => rows(vsctl(ctx, 'list-ports', br));
const has = async (br: string, port: string, ctx: ModuleContext): Promise<boolean> =>
  ((await ports(br, ctx)) || []).includes(port);

const internalType = (port: string, internal: boolean): string[] =>
  internal ? ['--', 'set', 'interface', port, 'type=internal'] : [];

/** A tunnel: sets the options of an existing interface, or adds a port with them. */
async function tunnel(br: string, port: string, settings: readonly string[], ctx: ModuleContext): Promise<boolean> {
  if (!(await exists(br, ctx))) return false;
  const set = ['set', 'interface', port, ...settings];
  return worked((await has(br, port, ctx)) ? vsctl(ctx, ...set) : vsctl(ctx, 'add-port', br, port, '--', ...set));
}

/** The database's own sets and maps as lists and dictionaries. */
function plainData(value: Value): Value {
  if (Array.isArray(value) && value.length === 2 && Array.isArray(value[1])) {
    const [kind, items] = value as [Value, Value[]];
    if (kind === 'set') return items.map(plainData);
    if (kind === 'map' && items.every((item) => Array.isArray(item) && item.length === 2))
      return newDict((items as Value[][]).map(([key, item]) => [pyStr(key ?? ''), plainData(item ?? null)]));
    return value;
  }
  if (Array.isArray(value)) return value.length === 2 ? value : value.map(plainData);
  return isDict(value) ? newDict(Object.entries(value).map(([key, item]) => [key, plainData(item)])) : value;
}

const br = p.string({ doc: 'the bridge' });
const port = p.string({ doc: 'the port' });
const internal = p.bool({ default: false, doc: 'an internal interface' });
const number = (doc: string) => p.int({ doc });
const if_exists = (value: boolean) => p.bool({ default: value, doc: 'no failure when it does not exist' });
const may_exist = (value: boolean) => p.bool({ default: value, doc: 'no failure when it is there' });

const bridges = {
  bridge_list: fn({
    doc: 'Bridges.',
    examples: ["salt '*' openvswitch.bridge_list"],
    run: (_, ctx) => rows(vsctl(ctx, 'list-br')),
  }),
  bridge_exists: fn({
    doc: 'Whether a bridge exists.',
    examples: ["salt '*' openvswitch.bridge_exists br0"],
    params: { br },
    run: (args, ctx) => exists(args.br, ctx),
  }),
  bridge_create: fn({
    doc: 'Creates a bridge, or a fake bridge for a VLAN.',
    examples: ["salt '*' openvswitch.bridge_create br0"],
    params: {
      br,
      may_exist: may_exist(true),
      parent: p.string({ default: null, doc: 'the parent bridge' }),
      vlan: p.string({ default: null, doc: 'the VLAN' }),
    },
    run(args, ctx) {
      if (args.parent !== null && args.vlan === null)
        throw invocationError('If parent is specified, vlan must also be specified.');
      if (args.vlan !== null && args.parent === null)
        throw invocationError('If vlan is specified, parent must also be specified.');
      const part = args.parent === null ? [] : [args.parent, pyStr(args.vlan)];
      return worked(vsctl(ctx, ...(args.may_exist ? ['--may-exist'] : []), 'add-br', args.br, ...part));
    },
  }),
  bridge_delete: fn({
    doc: 'Removes a bridge with its ports.',
    examples: ["salt '*' openvswitch.bridge_delete br0"],
    params: { br, if_exists: if_exists(true) },
    run: (args, ctx) => worked(vsctl(ctx, ...(args.if_exists ? ['--if-exists'] : []), 'del-br', args.br)),
  }),
  bridge_to_parent: fn({
    doc: 'The parent bridge, or the bridge itself.',
    examples: ["salt '*' openvswitch.bridge_to_parent br0"],
    params: { br },
    async run(args, ctx) {
      const { retcode, stdout } = await vsctl(ctx, 'br-to-parent', args.br);
      return retcode === 0 ? stdout.trim() : false;
    },
  }),
  bridge_to_vlan: fn({
    doc: 'The VLAN of a bridge; 0 when it is none.',
    examples: ["salt '*' openvswitch.bridge_to_vlan br0"],
    params: { br },
    async run(args, ctx) {
      const { retcode, stdout } = await vsctl(ctx, 'br-to-vlan', args.br);
      return retcode === 0 ? Number(stdout) : false;
    },
  }),
};

const portFunctions = {
  port_add: fn({
    doc: 'Adds a port to a bridge.',
    examples: ["salt '*' openvswitch.port_add br0 eth1"],
    params: { br, port, may_exist: may_exist(false), internal },
    run(args, ctx) {
      const argv = [...(args.may_exist ? ['--may-exist'] : []), 'add-port', args.br, args.port];
      return worked(vsctl(ctx, ...argv, ...internalType(args.port, args.internal)));
    },
  }),
  port_remove: fn({
    doc: 'Removes a port.',
    examples: ["salt '*' openvswitch.port_remove br0 eth1"],
    params: { br: p.string({ falsy: null, doc: 'the bridge, or null for any' }), port, if_exists: if_exists(true) },
    run(args, ctx) {
      const from = isTruthy(args.br) ? [pyStr(args.br)] : [];
      return worked(vsctl(ctx, ...(args.if_exists ? ['--if-exists'] : []), 'del-port', ...from, args.port));
    },
  }),
  port_list: fn({
    doc: 'Ports of a bridge.',
    examples: ["salt '*' openvswitch.port_list br0"],
    params: { br },
    run: (args, ctx) => ports(args.br, ctx),
  }),
  port_get_tag: fn({
    doc: 'VLAN of a port.',
    examples: ["salt '*' openvswitch.port_get_tag tap0"],
    params: { port },
    run: (args, ctx) => rows(vsctl(ctx, 'get', 'port', args.port, 'tag')),
  }),
  interface_get_options: fn({
    doc: 'Options of an interface.',
    examples: ["salt '*' openvswitch.interface_get_options tap0"],
    params: { port },
    run: (args, ctx) => rows(vsctl(ctx, 'get', 'interface', args.port, 'options')),
  }),
  interface_get_type: fn({
    doc: 'Type of an interface.',
    examples: ["salt '*' openvswitch.interface_get_type tap0"],
    params: { port },
    run: (args, ctx) => rows(vsctl(ctx, 'get', 'interface', args.port, 'type')),
  }),
  port_create_vlan: fn({
    doc: 'Creates a port with access to a VLAN.',
    examples: ["salt '*' openvswitch.port_create_vlan br0 tap0 100"],
    params: { br, port, id: number('the VLAN'), internal },
    async run(args, ctx) {
      const interfaces = await ctx.call('network.interfaces');
      const known = args.internal || (isDict(interfaces) && Object.keys(interfaces).includes(args.port));
      if (args.id < 0 || args.id > 4095 || !(await exists(args.br, ctx)) || !known) return false;
      const there = await has(args.br, args.port, ctx);
      const argv = there ? ['set', 'port', args.port] : ['add-port', args.br, args.port];
      return worked(vsctl(ctx, ...argv, `tag=${args.id}`, ...internalType(args.port, args.internal)));
    },
  }),
  port_create_gre: fn({
    doc: 'Creates a GRE tunnel.',
    examples: ["salt '*' openvswitch.port_create_gre br0 gre1 5001 192.0.2.10"],
    params: { br, port, id: number('its key'), remote: p.string({ doc: 'address of the other end' }) },
    async run(args, ctx) {
      if (args.id < 0 || args.id >= 2 ** 32 || !isAddress(args.remote)) return false;
      return tunnel(
        args.br,
        args.port,
        ['type=gre', `options:remote_ip=${args.remote}`, `options:key=${args.id}`],
        ctx,
      );
    },
  }),
  port_create_vxlan: fn({
    doc: 'Creates a VXLAN tunnel.',
    examples: ["salt '*' openvswitch.port_create_vxlan br0 vx1 5001 192.0.2.10 8472"],
    params: {
      br,
      port,
      id: number('its key'),
      remote: p.string({ doc: 'address of the other end' }),
      dst_port: p.int({ default: null, doc: 'port of the other end' }),
    },
    async run(args, ctx) {
      const { id, remote, dst_port: to } = args;
      if (id < 0 || id >= 2 ** 64 || !isAddress(remote)) return false;
      const end = to !== null && to > 0 && to <= 65535 ? [`options:dst_port=${to}`] : [];
      return tunnel(
        args.br,
        args.port,
        ['type=vxlan', `options:remote_ip=${remote}`, `options:key=${id}`, ...end],
        ctx,
      );
    },
  }),
};

const cell = {
  table: p.string({ doc: 'the table' }),
  record: p.string({ doc: 'the record' }),
  column: p.string({ doc: 'the column' }),
};

const database = {
  db_get: fn({
    doc: 'One cell of the database of the switch.',
    examples: ["salt '*' openvswitch.db_get Port br0 vlan_mode"],
    params: { ...cell, if_exists: if_exists(false) },
    async run(args, ctx) {
      const argv = ['--format=json', `--columns=${args.column}`, ...(args.if_exists ? ['--if-exists'] : [])];
      const done = await vsctl(ctx, ...argv, 'list', args.table, args.record);
      if (done.retcode !== 0) throw commandError(done.stderr);
      const answer = plainData(loadJson(done.stdout)) as { data?: Value };
      const first = Array.isArray(answer.data) ? answer.data[0] : undefined;
      return Array.isArray(first) ? (first[0] ?? null) : null;
    },
  }),
  db_set: fn({
    doc: 'Sets one cell of the database of the switch.',
    examples: ["salt '*' openvswitch.db_set Interface br0 mac 02:03:04:05:06:07"],
    params: { ...cell, value: p.any({ doc: 'the value, of any kind' }), if_exists: if_exists(false) },
    async run(args, ctx) {
      const value = `${args.column}=${dumpJson(args.value)}`;
      const argv = [...(args.if_exists ? ['--if-exists'] : []), 'set', args.table, args.record, value];
      const done = await vsctl(ctx, ...argv);
      return done.retcode === 0 ? null : done.stderr;
    },
  }),
};

export default defineModule({
  name: 'openvswitch',
  doc: 'Bridges and ports of a virtual switch.',
  available: () => which('ovs-vsctl') !== null || 'Missing dependency: ovs-vsctl',
  reads: [
    'bridge_list',
    'bridge_exists',
    'bridge_to_parent',
    'bridge_to_vlan',
    'port_list',
    'port_get_tag',
    'interface_get_options',
    'interface_get_type',
    'db_get',
  ],
  functions: { ...bridges, ...portFunctions, ...database },
});
