// State module `glusterfs`: peers and volumes of a file system over several machines.
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import {
  defineState,
  isTruthy,
  needsFunction,
  newDict,
  p,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { plain } from '../shared/calls.ts';

const name = p.string({ doc: 'the volume' });
const fits = (text: string): boolean => /^[a-zA-Z0-9._-]+$/.test(text);

/** Whether a name is one of this machine. */
async function isHere(host: string): Promise<boolean> {
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some(({ address }) => /^127\.|^::1$/.test(address) || own.includes(address));
}

const knows = (peers: Value, host: string): boolean =>
  Object.values(plain(peers)).some((peer) => {
    const names = plain(peer)['hostnames'];
    return Array.isArray(names) && names.includes(host);
  });

const peered = state({
  doc: 'Another machine that belongs to the pool.',
  examples: ['two.example.com:\n  glusterfs.peered'],
  params: { name: p.string({ doc: 'the machine' }) },
  async run({ name: host }, ctx) {
    if (!fits(host)) return ctx.fail('Invalid characters in peer name.');
    if (await isHere(host)) return ctx.ok('Peering with localhost is not needed');
    const before = await ctx.call('glusterfs.peer_status');
    if (knows(before, host)) return ctx.ok(`Host ${host} already peered`);
    if (ctx.test) return ctx.result({ result: null, comment: `Peer ${host} will be added.` });
    if (!(await ctx.call('glusterfs.peer', host)))
      return ctx.fail(`Failed to peer with ${host}, please check logs for errors`);
    const after = await ctx.call('glusterfs.peer_status');
    if (!knows(after, host))
      return ctx.fail(`Host ${host} was successfully peered but did not appear in the list of peers`);
    const changes = newDict(Object.entries({ new: after, old: before }));
    return ctx.ok(`Host ${host} successfully peered`, { changes });
  },
});

const runs = async (volume: string, ctx: StateContext): Promise<boolean> =>
  Number(plain(plain(await ctx.call('glusterfs.info'))[volume])['status']) === 1;

/** The second half of `volume_present`: what is said so far, and whether it runs. */
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
    force: p.bool({ default: false, doc: 'whatever gluster thinks of it' }),
    arbiter: p.bool({ default: false, doc: 'the third copy holds no data' }),
  },
  async run(args, ctx) {
    const { name: volume, bricks, stripe, replica, device_vg, transport, start, force, arbiter } = args;
    if (!fits(volume)) return ctx.fail('Invalid characters in volume name.');
    const before = await ctx.call('glusterfs.list_volumes');
    const there = (list: Value): boolean => Array.isArray(list) && list.includes(volume);
    if (there(before)) {
      const said = ctx.ok(`Volume ${volume} already exists`);
      if (!start) return ctx.test ? ctx.result({ result: null, comment: said.comment }) : said;
      if (!ctx.test) return started(volume, said, ctx);
      return ctx.result({ result: null, comment: `${String(said.comment)} and will be started` });
    }
    if (ctx.test)
      return ctx.result({ result: null, comment: `Volume ${volume} will be created${start ? ' and started' : ''}` });
    const layout = [volume, bricks, stripe, replica, device_vg, transport, start, force, arbiter];
    if (!(await ctx.call('glusterfs.create_volume', ...layout))) return ctx.fail(`Creation of volume ${volume} failed`);
    const after = await ctx.call('glusterfs.list_volumes');
    const said = there(after)
      ? ctx.ok(`Volume ${volume} is created`, { changes: newDict(Object.entries({ new: after, old: before })) })
      : ctx.ok('');
    return start ? started(volume, said, ctx) : said;
  },
});

const startedState = state({
  doc: 'A volume that runs.',
  examples: ['web:\n  glusterfs.started'],
  params: { name },
  async run({ name: volume }, ctx) {
    if (!(volume in plain(await ctx.call('glusterfs.info')))) return ctx.fail(`Volume ${volume} does not exist`);
    if (await runs(volume, ctx)) return ctx.ok(`Volume ${volume} is already started`);
    return ctx.change(newDict(Object.entries({ new: 'started', old: 'stopped' })), `Volume ${volume} is started`, {
      test: `Volume ${volume} will be started`,
      testChanges: newDict(),
      apply: async () =>
        (await ctx.call('glusterfs.start_volume', volume)) ? undefined : ctx.fail(`Failed to start volume ${volume}`),
    });
  },
});

const add_volume_bricks = state({
  doc: 'Bricks that belong to a volume.',
  examples: ['web:\n  glusterfs.add_volume_bricks:\n    - bricks: [three:/brick]'],
  params: { name, bricks: p.oneOf(['string', 'list'], { doc: 'list of machine:/path' }) },
  async run({ name: volume, bricks }, ctx) {
    const paths = async (): Promise<Value[]> => {
      const about = plain(plain(await ctx.call('glusterfs.info'))[volume]);
      return Object.values(plain(about['bricks'])).map((brick) => plain(brick)['path'] ?? '');
    };
    if (!(volume in plain(await ctx.call('glusterfs.info')))) return ctx.fail(`Volume ${volume} does not exist`);
    if (!(await runs(volume, ctx))) return ctx.fail(`Volume ${volume} is not started`);
    const before = await paths();
    const wanted = Array.isArray(bricks) ? bricks : [bricks];
    if (wanted.every((brick) => before.includes(brick))) return ctx.ok(`Bricks already added in volume ${volume}`);
    if (ctx.test) return ctx.result({ result: null, comment: `Bricks will be added to volume ${volume}` });
    if (!(await ctx.call('glusterfs.add_volume_bricks', volume, bricks)))
      return ctx.fail(`Adding bricks to volume ${volume} failed`);
    const changes = newDict(Object.entries({ new: await paths(), old: before }));
    return ctx.ok(`Bricks successfully added to volume ${volume}`, { changes });
  },
});

export default defineState({
  name: 'glusterfs',
  doc: 'Peers and volumes of a file system over several machines.',
  available: needsFunction('glusterfs.list_volumes', 'glusterfs module could not be loaded'),
  functions: { peered, volume_present, started: startedState, add_volume_bricks },
});
