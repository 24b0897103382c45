// State module `glusterfs`: peers and volumes of a distributed file system.
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import {
  defineState,
  isTruthy,
  needsFunction,
  newDict,
  p,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';

const name = p.string({ doc: 'the volume' });
const fits = (text: string): boolean => /^[a-zA-Z0-9._-]+$/.test(text);

/** Whether a name is one of this machine. */
async function isHere(host: string): Promise<boolean> {
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some(({ address }) => /^127\.|^::1$/.test(address) || own.includes(address));
}

const knows = (peers: Value, host: string): boolean =>
  Object.values(textKeyed(peers)).some((peer) => {
    const names = textKeyed(peer)['hostnames'];
    return Array.isArray(names) && names.includes(host);
  });

const peered = state({
  doc: 'A peer of the pool.',
  examples: ['two.example.com:\n  glusterfs.peered'],
  params: { name: p.string({ doc: 'the machine' }) },
  async run({ name: host }, ctx) {
    if (!fits(host)) return ctx.fail('Invalid characters in peer name.');
    if (await isHere(host)) return ctx.ok('Peering with localhost is not needed');
    return resource(ctx, {
      find: () => ctx.call('glusterfs.peer_status'),
      compare: (peers) => !knows(peers, host),
      change: () => ctx.call('glusterfs.peer', host),
      recheck: true,
      changes: ({ found, after }) => ({ new: after, old: found }),
      right: `Host ${host} already peered`,
      would: `Peer ${host} will be added.`,
      done: `Host ${host} successfully peered`,
      failed: ({ answer }) =>
        answer
          ? `Host ${host} was successfully peered but did not appear in the list of peers`
          : `Failed to peer with ${host}, please check logs for errors`,
    });
  },
});

const runs = async (volume: string, ctx: StateContext): Promise<boolean> =>
  Number(textKeyed(textKeyed(await ctx.call('glusterfs.info'))[volume])['status']) === 1;

/** The second half of `volume_present`: the comment so far, and whether the volume is started. */
async function started(volume: string, said: StateResult, ctx: StateContext): Promise<StateResult> {
  const comment = String(said.comment);
  if (await runs(volume, ctx)) return ctx.ok(`${comment} and is started`, { changes: said.changes });
  if (!(await ctx.call('glusterfs.start_volume', volume)))
    return ctx.fail(`${comment} but failed to start. Check logs for further information`, { changes: said.changes });
  const changes = isTruthy(said.changes) ? said.changes : newDict(Object.entries({ new: 'started', old: 'stopped' }));
  return ctx.ok(`${comment} and is now started`, { changes });
}

const volume_present = state({
  doc: 'A volume.',
  examples: [
    'web:\n  glusterfs.volume_present:\n    - bricks: [one:/brick, two:/brick]\n    - replica: 2\n    - start: True',
  ],
  params: {
    name,
    bricks: p.oneOf(['string', 'list'], { doc: 'list of machine:/path' }),
    stripe: p.scalar({ default: false, nullable: true, doc: 'number of stripes' }),
    replica: p.scalar({ default: false, nullable: true, doc: 'number of copies' }),
    device_vg: p.scalar({ default: false, nullable: true, doc: 'on a volume group' }),
    transport: p.string({ default: 'tcp', doc: 'tcp or rdma' }),
    start: p.bool({ default: false, doc: 'start it' }),
    force: p.bool({ default: false, doc: 'ignore warnings of gluster' }),
    arbiter: p.bool({ default: false, doc: 'the third brick is an arbiter without data' }),
  },
  async run(args, ctx) {
    const { name: volume, bricks, stripe, replica, device_vg, transport, start, force, arbiter } = args;
    if (!fits(volume)) return ctx.fail('Invalid characters in volume name.');
    const before = await ctx.call('glusterfs.list_volumes');
    const there = (list: Value): boolean => Array.isArray(list) && list.includes(volume);
    const isThere = there(before);
    const will = isThere ? ' already exists' : ' will be created';
    const starts = start ? ` and ${isThere ? 'will be ' : ''}started` : '';
    // Under test Salt always reports a change.
    return ctx.change(newDict(), '', {
      test: `Volume ${volume}${will}${starts}`,
      async apply() {
        let said = ctx.ok(`Volume ${volume} already exists`);
        if (!isThere) {
          const layout = [volume, bricks, stripe, replica, device_vg, transport, start, force, arbiter] as const;
          if (!(await ctx.call('glusterfs.create_volume', ...layout)))
            return ctx.fail(`Creation of volume ${volume} failed`);
          const after = await ctx.call('glusterfs.list_volumes');
          const changes = newDict(Object.entries({ new: after, old: before }));
          said = there(after) ? ctx.ok(`Volume ${volume} is created`, { changes }) : ctx.ok('');
        }
        return start ? started(volume, said, ctx) : said;
      },
    });
  },
});

const startedState = state({
  doc: 'A volume that runs.',
  examples: ['web:\n  glusterfs.started'],
  params: { name },
  async run({ name: volume }, ctx) {
    if (!(volume in textKeyed(await ctx.call('glusterfs.info')))) return ctx.fail(`Volume ${volume} does not exist`);
    return resource(ctx, {
      find: () => runs(volume, ctx),
      change: () => ctx.call('glusterfs.start_volume', volume),
      changes: () => ({ new: 'started', old: 'stopped' }),
      right: `Volume ${volume} is already started`,
      would: `Volume ${volume} will be started`,
      done: `Volume ${volume} is started`,
      failed: `Failed to start volume ${volume}`,
    });
  },
});

const add_volume_bricks = state({
  doc: 'Bricks that belong to a volume.',
  examples: ['web:\n  glusterfs.add_volume_bricks:\n    - bricks: [three:/brick]'],
  params: { name, bricks: p.oneOf(['string', 'list'], { doc: 'list of machine:/path' }) },
  async run({ name: volume, bricks }, ctx) {
    const paths = async (): Promise<Value[]> => {
      const about = textKeyed(textKeyed(await ctx.call('glusterfs.info'))[volume]);
      return Object.values(textKeyed(about['bricks'])).map((brick) => textKeyed(brick)['path'] ?? '');
    };
    if (!(volume in textKeyed(await ctx.call('glusterfs.info')))) return ctx.fail(`Volume ${volume} does not exist`);
    if (!(await runs(volume, ctx))) return ctx.fail(`Volume ${volume} is not started`);
    const wanted = Array.isArray(bricks) ? bricks : [bricks];
    return resource(ctx, {
      find: paths,
      compare: (now) => !wanted.every((brick) => now.includes(brick)),
      change: async () => (await ctx.call('glusterfs.add_volume_bricks', volume, bricks)) && paths(),
      changes: ({ found, answer }) => ({ new: answer, old: found }),
      right: `Bricks already added in volume ${volume}`,
      would: `Bricks will be added to volume ${volume}`,
      done: `Bricks successfully added to volume ${volume}`,
      failed: `Adding bricks to volume ${volume} failed`,
    });
  },
});

export default defineState({
  name: 'glusterfs',
  doc: 'Peers and volumes of GlusterFS.',
  available: needsFunction('glusterfs.list_volumes', 'glusterfs module could not be loaded'),
  functions: { peered, volume_present, started: startedState, add_volume_bricks },
});
