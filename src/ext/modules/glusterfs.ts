// Execution module `glusterfs`: peers and volumes of a distributed file system.
import {
  type ArgsOf,
  commandError,
  defineModule,
  fn,
  invocationError,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import { parseXml } from '../shared/serializers/xml.ts';
import { command } from './shared/command.ts';

type Node = ReturnType<typeof parseXml>;

const child = (node: Node | undefined, name: string): Node | undefined =>
  node?.children.find((one) => one.name === name);
const textOf = (node: Node | undefined, name: string): string => child(node, name)?.text ?? '';
const all = (node: Node, name: string): Node[] =>
  node.children.flatMap((one) => [...(one.name === name ? [one] : []), ...all(one, name)]);
const ok = (root: Node): boolean => Number(textOf(root, 'opRet')) === 0;

/** Children by name; a leaf is its text. */
function nodeDict(node: Node): Value {
  if (node.children.length === 0) return node.text;
  return newDict(node.children.map((one) => [one.name, nodeDict(one)]));
}

/** One word for gluster's prompt, where white space ends a word and a line break would start another command. */
function word(text: Value): string {
  const said = pyStr(text);
  if (!/^[^\s'"\\]+$/.test(said)) throw invocationError(`${JSON.stringify(said)} cannot be part of a gluster command`);
  return said;
}

async function gluster(words: readonly string[], ctx: ModuleContext): Promise<Node> {
  const done = await command(ctx, ['gluster', '--xml', '--mode=script'], { stdin: `${words.join(' ')}\n` });
  const said = [done.stdout, done.stderr].filter(Boolean).join('\n');
  const text = lines(said)
    .filter((line) => !line.startsWith('Welcome to gluster prompt'))
    .map((line) => (line.startsWith('gluster>') ? line.slice(9) : line).trim())
    .join('');
  let root: Node;
  try {
    root = parseXml(text);
  } catch {
    throw commandError(lines(said).slice(0, -1).join('\n'));
  }
  if (!ok(root)) ctx.log.error(`Failed gluster call: ${words.join(' ')}: ${textOf(root, 'opErrstr')}`);
  return root;
}

const worked = async (words: readonly string[], ctx: ModuleContext): Promise<boolean> => ok(await gluster(words, ctx));

async function peers(ctx: ModuleContext): Promise<Value> {
  const root = await gluster(['peer', 'status'], ctx);
  if (!ok(root)) return null;
  return newDict(
    all(root, 'peer').map((peer) => {
      const names = [
        textOf(peer, 'hostname'),
        ...(child(peer, 'hostnames')?.children ?? []).map(({ text }) => text ?? ''),
      ];
      const rest = peer.children.filter(({ name }) => !['uuid', 'hostname', 'hostnames'].includes(name));
      const hostnames = [...new Set(names.filter(Boolean))];
      return [
        textOf(peer, 'uuid'),
        newDict([['hostnames', hostnames], ...rest.map(({ name, text }): [string, Value] => [name, text])]),
      ];
    }),
  );
}

function volumeDict(volume: Node): PlainDict {
  const facts = nodeDict(volume) as PlainDict;
  facts['bricks'] = newDict(
    all(volume, 'brick').map((brick, index) => {
      const rest = brick.children.filter(({ name }) => name !== 'name');
      const path = brick.text ?? textOf(brick, 'name');
      return [
        `brick${index + 1}`,
        newDict([['path', path], ...rest.map(({ name, text }): [string, Value] => [name, text])]),
      ];
    }),
  );
  facts['options'] = newDict(all(volume, 'option').map((one) => [textOf(one, 'name'), textOf(one, 'value')]));
  return facts;
}

async function info(name: string | null, ctx: ModuleContext): Promise<PlainDict | null> {
  const root = await gluster(['volume', 'info', ...(name === null ? [] : [word(name)])], ctx);
  return ok(root) ? newDict(all(root, 'volume').map((one) => [textOf(one, 'name'), volumeDict(one)])) : null;
}

async function start(name: string, force: boolean, ctx: ModuleContext): Promise<boolean> {
  const volume = (await info(name, ctx))?.[name] as PlainDict | undefined;
  if (!volume) {
    ctx.log.error(`Cannot start non-existing volume ${name}`);
    return false;
  }
  if (!force && volume['status'] === '1') return true;
  return worked(['volume', 'start', word(name), ...(force ? ['force'] : [])], ctx);
}

async function stop(name: string, force: boolean, ctx: ModuleContext): Promise<boolean> {
  const volume = (await info(null, ctx))?.[name] as PlainDict | undefined;
  if (!volume) {
    ctx.log.error(`Cannot stop non-existing volume ${name}`);
    return false;
  }
  if (Number(volume['status']) !== 1) return true;
  return worked(['volume', 'stop', word(name), ...(force ? ['force'] : [])], ctx);
}

const bricksOf = (given: Value): string[] => (Array.isArray(given) ? given : [given]).map(pyStr);

type Volume = ArgsOf<typeof volumeParams>;

function createWords(args: Volume): string[] {
  const bricks = bricksOf(args.bricks);
  if (isTruthy(args.device_vg) && bricks.length > 1)
    throw invocationError('Block device backend volume does not support multiple bricks');
  for (const brick of bricks) {
    const [, path, more] = brick.split(':');
    if (path === undefined || more !== undefined) throw invocationError(`Brick syntax is <peer>:<path> got ${brick}`);
    if (!path.startsWith('/')) throw invocationError(`Brick paths must start with / in ${brick}`);
  }
  if (args.arbiter && args.replica !== 3) throw invocationError('Arbiter configuration only valid in replica 3 volume');
  return [
    ...['volume', 'create', word(args.name)],
    ...(isTruthy(args.stripe) ? ['stripe', word(args.stripe)] : []),
    ...(isTruthy(args.replica) ? ['replica', word(args.replica)] : []),
    ...(args.arbiter ? ['arbiter', '1'] : []),
    ...(isTruthy(args.device_vg) ? ['device', 'vg'] : []),
    ...(args.transport === 'tcp' ? [] : ['transport', word(args.transport)]),
    ...bricks.map(word),
    ...(args.force ? ['force'] : []),
  ];
}

const name = p.string({ doc: 'the volume' });
const force = p.bool({ default: false, doc: 'ignore warnings of gluster' });

const volumeParams = {
  name,
  bricks: p.strings({ doc: 'machine:/path, one or several' }),
  stripe: p.string({ default: false, falsy: null, doc: 'number of stripes' }),
  replica: p.oneOf(['int', 'string', 'bool'], { default: false, falsy: null, doc: 'number of copies' }),
  device_vg: p.truthy({ default: false, doc: 'on a volume group' }),
  transport: p.string({ default: 'tcp', doc: 'tcp or rdma' }),
  start: p.bool({ default: false, doc: 'start it' }),
  force,
  arbiter: p.bool({ default: false, doc: 'the third brick is an arbiter without data' }),
};

const functions = {
  peer_status: fn({
    doc: 'Peers by their id.',
    examples: ["salt '*' glusterfs.peer_status"],
    run: (_, ctx) => peers(ctx),
  }),
  peer: fn({
    doc: 'Adds a peer.',
    examples: ["salt 'one' glusterfs.peer two.example.com"],
    params: { name: p.string({ doc: 'the machine' }) },
    run(args, ctx) {
      if (!/^[a-zA-Z0-9._-]+$/.test(args.name)) throw invocationError(`Invalid characters in peer name "${args.name}"`);
      return worked(['peer', 'probe', args.name], ctx);
    },
  }),
  create_volume: fn({
    doc: 'Creates a volume.',
    examples: ["salt 'one' glusterfs.create_volume web '[one:/brick, two:/brick]' replica=2"],
    params: volumeParams,
    async run(args, ctx) {
      if (!(await worked(createWords(args), ctx))) return false;
      return args.start ? start(args.name, false, ctx) : true;
    },
  }),
  list_volumes: fn({
    doc: 'Volumes.',
    examples: ["salt '*' glusterfs.list_volumes"],
    async run(_, ctx) {
      const root = await gluster(['volume', 'list'], ctx);
      return ok(root) ? all(root, 'volume').map(({ text }) => text ?? '') : null;
    },
  }),
  info: fn({
    doc: 'Details of volumes.',
    examples: ["salt '*' glusterfs.info"],
    params: { name: p.string({ default: null, doc: 'the volume; all otherwise' }) },
    run: (args, ctx) => info(args.name, ctx),
  }),
  start_volume: fn({
    doc: 'Starts a volume.',
    examples: ["salt '*' glusterfs.start_volume web"],
    params: { name, force },
    run: (args, ctx) => start(args.name, args.force, ctx),
  }),
  stop_volume: fn({
    doc: 'Stops a volume.',
    examples: ["salt '*' glusterfs.stop_volume web"],
    params: { name, force },
    run: (args, ctx) => stop(args.name, args.force, ctx),
  }),
  delete_volume: fn({
    doc: 'Removes a volume, after stopping it.',
    examples: ["salt '*' glusterfs.delete_volume web"],
    params: { target: name, stop: p.bool({ default: true, doc: 'stop it when it runs' }) },
    async run(args, ctx) {
      const volume = (await info(null, ctx))?.[args.target] as PlainDict | undefined;
      const runs = volume?.['status'] === '1';
      if (!volume || (runs && !args.stop) || (runs && !(await stop(args.target, true, ctx)))) return false;
      return worked(['volume', 'delete', word(args.target)], ctx);
    },
  }),
  add_volume_bricks: fn({
    doc: 'Adds bricks that do not exist yet.',
    examples: ["salt '*' glusterfs.add_volume_bricks web three:/brick"],
    params: { name, bricks: p.strings({ doc: 'machine:/path, one or several' }) },
    async run(args, ctx) {
      const volume = (await info(null, ctx))?.[args.name] as PlainDict | undefined;
      if (!volume) return false;
      const known = Object.values(volume['bricks'] as Record<string, PlainDict>).map((brick) => brick['path']);
      const more = bricksOf(args.bricks).filter((brick) => !known.includes(brick));
      return more.length === 0 || worked(['volume', 'add-brick', word(args.name), ...more.map(word)], ctx);
    },
  }),
};

export default defineModule({
  name: 'glusterfs',
  doc: 'Peers and volumes of GlusterFS.',
  available: () => which('gluster') !== null || 'glusterfs server is not installed',
  reads: ['peer_status', 'list_volumes', 'info'],
  functions,
});
