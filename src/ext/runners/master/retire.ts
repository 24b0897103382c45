// `master.retire`: the last part of a move. The old master answers late minions until nobody comes any more.
import {
  dictGet,
  HaliteError,
  type MasterContext,
  type MinionStatus,
  masterFn,
  newDict,
  p,
  type Value,
} from 'halite/sdk';
import { isAddress } from './address.ts';

/** Enough for an operator to see who they are; the number says how many there are. */
const mostNamed = 200;

const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const standing = ({ connected, lastContact }: MinionStatus): string => {
  const heard = lastContact ? `last heard ${timeText(lastContact.getTime())}` : 'not heard since the start';
  return connected === 'yes' ? `connected, ${heard}` : heard;
};

/** Minions that were here after it began, or still are. */
function comers(ctx: MasterContext, since: number): MinionStatus[] {
  return ctx.master.fleet
    .all()
    .filter(({ connected, lastContact }) => connected === 'yes' || (lastContact?.getTime() ?? 0) > since)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

async function resultsSince(ctx: MasterContext, since: number): Promise<number> {
  const [row] = await ctx.master.jobs.query(
    "SELECT count(*) AS n FROM ret WHERE received > ? AND fun NOT IN ('test.ping', 'minion.use_master')",
    [since],
  );
  return Number((row && dictGet(row, 'n')) ?? 0);
}

async function report(ctx: MasterContext): Promise<Value> {
  const { active, to, since, quietSeconds, quietSince, jobs } = await ctx.master.retirement.status();
  if (!active) return newDict([['phase', 'this master works; it is not being retired']]);
  const here = comers(ctx, since);
  const results = await resultsSince(ctx, since);
  const ends =
    quietSince === undefined
      ? `when no minion is connected for ${quietSeconds} seconds`
      : `${timeText(quietSince + quietSeconds * 1000)}, if no minion comes`;
  return newDict([
    ['phase', 'this master is being retired: it publishes no jobs'],
    ['new master', to],
    ['since', timeText(since)],
    ['ends', ends],
    ['still come', newDict(here.slice(0, mostNamed).map((status) => [status.id, standing(status)]))],
    ...((here.length > mostNamed ? [['more', here.length - mostNamed]] : []) as [string, Value][]),
    ...((jobs.length > 0 ? [['jobs under way', jobs.slice(0, mostNamed)]] : []) as [string, Value][]),
    ['results since then', results],
    ['to do', advice(to, here.length, results)],
  ]);
}

/** Commands, in the order in which they help. */
function advice(to: string, here: number, results: number): Value {
  return [
    ...(here > 0 ? [`tell those that still come: salt-run master.handover ${to} finish=True`] : []),
    ...(results > 0 ? ['their results are in the history here: clone it once more on the new master'] : []),
    'let this master work again: salt-run master.retire undo=True',
  ];
}

export const retire = masterFn({
  doc: 'Ends the work of this master after its minions have moved: it answers, stores results and hands late minions over, but publishes no other jobs, runs no schedule and no reactions. It ends by itself when no minion has come for a day; a restart changes nothing.',
  examples: [
    'salt-run master.retire new:4506 --dry-run',
    'salt-run master.retire new:4506',
    'salt-run master.retire',
    'salt-run master.retire undo=True',
  ],
  params: {
    address: p.string({ default: '', doc: 'the new master, `host` or `host:port`; without it: how it stands' }),
    quiet: p.int({ default: 86_400, doc: 'seconds without any minion, after which this master ends' }),
    undo: p.bool({ default: false, doc: 'let this master work as before' }),
    dry_run: p.bool({ default: false, doc: 'only show who would still come; `--dry-run` is the same' }),
  },
  async run({ address, quiet, undo, dry_run }, ctx) {
    const { retirement } = ctx.master;
    if (undo && address !== '') throw new HaliteError('call.arguments', 'undo=True takes no address');
    if (undo) {
      if (!dry_run) await retirement.undo();
      return report(ctx);
    }
    if (address === '') return report(ctx);
    if (!isAddress(address)) throw new HaliteError('call.arguments', `${address} is not an address like new:4506`);
    if (quiet < 1 || quiet > 31_536_000)
      throw new HaliteError('call.arguments', `quiet=${quiet} is not between one second and one year`);
    if (dry_run) {
      const here = comers(ctx, 0).filter(({ connected }) => connected === 'yes');
      return newDict([
        [
          'plan',
          [
            `This master would publish no more jobs; users are sent to ${address}.`,
            'Its schedule and its reactions stop. It goes on to answer minions and to store results.',
            `It would end when no minion has come for ${quiet} seconds.`,
          ],
        ],
        ['connected now', newDict(here.slice(0, mostNamed).map((status) => [status.id, standing(status)]))],
        ['number', here.length],
      ]);
    }
    await retirement.begin(address, quiet);
    return report(ctx);
  },
});
