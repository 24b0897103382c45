// Functions of `virt` for storage pools.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ArgsOf,
  asList,
  fn,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { mkdtempSync, rmSync, writeFileSync } from 'halite/sdk/fs';
import { ask, fields, kwargs, names, virsh, worked } from './virsh.ts';

const name = p.string({ doc: 'the pool' });
const layout = {
  name,
  ptype: p.string({ doc: 'dir, fs, logical, netfs, …' }),
  target: p.string({ default: null, falsy: null, doc: 'folder or volume group' }),
  permissions: p.dict({ default: null, falsy: null, doc: 'mode, owner, group, label' }),
  source_devices: p.list({ default: null, doc: 'list of devices: path, part_separator' }),
  source_dir: p.string({ default: null, falsy: null, doc: 'remote folder' }),
  source_initiator: p.string({ default: null, falsy: null, doc: 'name of the initiator' }),
  source_adapter: p.dict({ default: null, falsy: null, doc: 'the adapter: type, name, parent, …' }),
  source_hosts: p.list({ default: null, doc: 'list of host, or host:port' }),
  source_auth: p.dict({ default: null, falsy: null, doc: 'type, username and secret' }),
  source_name: p.string({ default: null, falsy: null, doc: 'remote name' }),
  source_format: p.string({ default: null, falsy: null, doc: 'remote format' }),
};
type Layout = ArgsOf<typeof layout>;

const escaped = (value: Value | undefined): string =>
  pyStr(value ?? '').replace(/[<>&'"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const attributes = (from: PlainDict, keys: readonly string[]): string =>
  keys
    .filter((key) => key in from)
    .map((key) => ` ${key}='${escaped(from[key])}'`)
    .join('');

const adapterKeys = [
  'type',
  'name',
  'parent',
  'managed',
  'parent_wwnn',
  'parent_wwpn',
  'parent_fabric_wwn',
  'wwnn',
  'wwpn',
];

/** The source of the pool; its parts depend on the type. */
function sourceXml(args: Layout, kind: string): string {
  const parts: string[] = [];
  const within = (...kinds: string[]): boolean => kinds.includes(kind);
  if (within('fs', 'logical', 'disk', 'iscsi', 'zfs', 'vstorage', 'iscsi-direct'))
    for (const device of asList(args.source_devices) ?? [])
      parts.push(`<device${attributes(textKeyed(device), ['path', 'part_separator'])}/>`);
  else if (within('dir', 'netfs', 'gluster') && args.source_dir)
    parts.push(`<dir path='${escaped(args.source_dir)}'/>`);
  else if (kind === 'scsi') parts.push(`<adapter${attributes(textKeyed(args.source_adapter), adapterKeys)}/>`);
  if (within('netfs', 'iscsi', 'rbd', 'sheepdog', 'gluster', 'iscsi-direct'))
    for (const host of asList(args.source_hosts) ?? []) {
      const [address = '', port] = pyStr(host).split(':');
      parts.push(`<host name='${escaped(address)}'${port ? ` port='${escaped(port)}'` : ''}/>`);
    }
  if (within('logical', 'rbd', 'sheepdog', 'gluster') && args.source_name)
    parts.push(`<name>${escaped(args.source_name)}</name>`);
  if (within('fs', 'netfs', 'logical', 'disk') && args.source_format)
    parts.push(`<format type='${escaped(args.source_format)}'/>`);
  if (kind === 'iscsi-direct' && args.source_initiator)
    parts.push(`<initiator><iqn name='${escaped(args.source_initiator)}'/></initiator>`);
  return parts.length > 0 ? `<source>${parts.join('')}</source>` : '';
}

/** The XML description for libvirt. */
export function poolXml(args: Layout): string {
  const kind = args.ptype;
  const rights = textKeyed(args.permissions);
  const cells = ['mode', 'owner', 'group', 'label']
    .filter((key) => key in rights)
    .map((key) => `<${key}>${escaped(rights[key])}</${key}>`);
  const permissions = cells.length > 0 ? `<permissions>${cells.join('')}</permissions>` : '';
  const path = isTruthy(args.target) ? `<path>${escaped(args.target)}</path>` : '';
  const target = path || permissions ? `<target>${path}${permissions}</target>` : '';
  return `<pool type='${escaped(kind)}'><name>${escaped(args.name)}</name>${target}${sourceXml(args, kind)}</pool>`;
}

/** Requested parts that the description of the existing pool does not have. */
function differs(args: Layout, now: string): boolean {
  const flat = now.replace(/\s*\n\s*/g, '').replaceAll('"', "'");
  const wanted = poolXml(args).match(
    /<(?:path|mode|owner|group|label)>[^<]*<\/|<(?:device|dir|host|format|iqn)[^>]*\/>/g,
  );
  return !flat.includes(`<pool type='${args.ptype}'`) || (wanted ?? []).some((part) => !flat.includes(part));
}

/** Passes a description to virsh in a file, because virsh reads only files. */
async function describe(verb: string, xml: string, given: PlainDict, ctx: ModuleContext): Promise<true> {
  const folder = mkdtempSync(join(tmpdir(), 'halite-virt-'));
  try {
    writeFileSync(join(folder, 'pool.xml'), xml, { mode: 0o600 });
    return await worked(ctx, given, verb, join(folder, 'pool.xml'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const bytes = (text: string | undefined): number => Number(/\d+/.exec(text ?? '')?.[0] ?? 0);

async function about(pool: string, given: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const facts = fields(await virsh(ctx, given, 'pool-info', '--bytes', pool));
  const xml = await virsh(ctx, given, 'pool-dumpxml', pool);
  return newDict(
    Object.entries({
      uuid: facts.get('UUID') ?? '',
      state: facts.get('State') ?? 'unknown',
      capacity: bytes(facts.get('Capacity')),
      allocation: bytes(facts.get('Allocation')),
      free: bytes(facts.get('Available')),
      autostart: facts.get('Autostart') === 'yes' ? 1 : 0,
      persistent: facts.get('Persistent') === 'yes' ? 1 : 0,
      target_path: /<path>([^<]*)<\/path>/.exec(xml)?.[1] ?? null,
      type: /<pool type=['"]([^'"]*)/.exec(xml)?.[1] ?? null,
    }),
  );
}

const listPools = async (given: PlainDict, ctx: ModuleContext): Promise<string[]> =>
  names(await virsh(ctx, given, 'pool-list', '--all', '--name'));

/** A function for one action on a pool. */
const step = (fun: string, doc: string, ...verb: string[]) =>
  fn({
    doc,
    examples: [`salt '*' virt.${fun} default`],
    params: { name, kwargs },
    run: (args, ctx) => worked(ctx, args.kwargs, ...verb, args.name),
  });

export const poolFunctions = {
  list_pools: fn({
    doc: 'Storage pools.',
    examples: ["salt '*' virt.list_pools"],
    params: { kwargs },
    run: (args, ctx) => listPools(args.kwargs, ctx),
  }),
  pool_info: fn({
    doc: 'Sizes and state of one pool, or of all.',
    examples: ["salt '*' virt.pool_info default"],
    params: { name: p.string({ default: null, doc: 'the pool' }), kwargs },
    async run(args, ctx) {
      const found = newDict();
      for (const pool of await listPools(args.kwargs, ctx))
        if (args.name === null || args.name === pool) found[pool] = await about(pool, args.kwargs, ctx);
      return found;
    },
  }),
  pool_get_xml: fn({
    doc: 'The description of a pool.',
    examples: ["salt '*' virt.pool_get_xml default"],
    params: { name, kwargs },
    run: (args, ctx) => virsh(ctx, args.kwargs, 'pool-dumpxml', args.name),
  }),
  pool_define: fn({
    doc: 'Creates a pool.',
    examples: ["salt '*' virt.pool_define images dir target=/srv/images"],
    params: {
      ...layout,
      transient: p.bool({ default: false, doc: 'remove the definition when it stops' }),
      start: p.bool({ default: true, doc: 'start it' }),
      kwargs,
    },
    async run(args, ctx) {
      await describe(args.transient ? 'pool-create' : 'pool-define', poolXml(args), args.kwargs, ctx);
      return args.transient || !args.start || worked(ctx, args.kwargs, 'pool-start', args.name);
    },
  }),
  pool_update: fn({
    doc: 'Changes a pool if it differs; returns whether it differs.',
    examples: ["salt '*' virt.pool_update images dir target=/srv/images test=True"],
    params: { ...layout, test: p.bool({ default: false, doc: 'only return whether it differs' }), kwargs },
    reads: ({ test }) => test,
    async run(args, ctx) {
      const now = await virsh(ctx, args.kwargs, 'pool-dumpxml', args.name);
      if (!differs(args, now)) return false;
      const uuid = /<uuid>[^<]*<\/uuid>/.exec(now)?.[0] ?? '';
      const xml = poolXml(args).replace('</name>', `</name>${uuid}`);
      if (!args.test) await describe('pool-define', xml, args.kwargs, ctx);
      return true;
    },
  }),
  pool_start: step('pool_start', 'Starts a pool.', 'pool-start'),
  pool_stop: step('pool_stop', 'Stops a pool; its data stays.', 'pool-destroy'),
  pool_build: step('pool_build', 'Makes the folder or volume of a pool.', 'pool-build'),
  pool_undefine: step('pool_undefine', 'Forgets a pool.', 'pool-undefine'),
  pool_delete: step('pool_delete', 'Removes the data of a pool.', 'pool-delete'),
  pool_refresh: step('pool_refresh', 'Looks at the volumes of a pool anew.', 'pool-refresh'),
  pool_set_autostart: fn({
    doc: 'Whether a pool starts with the machine.',
    examples: ["salt '*' virt.pool_set_autostart default state=on"],
    params: { name, state: p.oneOf(['bool', 'string'], { default: 'on', doc: 'on or off' }), kwargs },
    async run(args, ctx) {
      const off = args.state === 'on' || args.state === true ? [] : ['--disable'];
      return (await ask(ctx, args.kwargs, 'pool-autostart', args.name, ...off)).retcode === 0;
    },
  }),
  pool_list_volumes: fn({
    doc: 'Volumes of a pool.',
    examples: ["salt '*' virt.pool_list_volumes default"],
    params: { name, kwargs },
    async run(args, ctx) {
      const said = await virsh(ctx, args.kwargs, 'vol-list', args.name);
      return names(said).map((line) => line.split(/\s+/)[0] ?? '');
    },
  }),
};
