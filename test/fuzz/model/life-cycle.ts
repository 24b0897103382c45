// Random sequences of events in the life of jobs, and the invariants that must hold for each.
import { dictEntries } from '../../../src/base/codec/value.ts';
import { hold } from '../engine/target.ts';
import type { JobLifeStore } from './memory-store.ts';
import type { SimulatedMinion } from './minion.ts';
import { type Published, World } from './world.ts';

/** What happens, whom it concerns, and how much. */
export type Event = readonly [kind: number, who: number, amount: number];

const durations = [10, 400, 3_000, 12_000, 45_000];
const waits = [5, 50, 300, 1_000, 2_500, 6_000, 21_000, 90_000];
const steps = [-7_200_000, -60_000, -900, 900, 60_000, 7_200_000];
const durableSeconds = 600;

type Happening = (world: World, who: number, amount: number) => void | Promise<void>;

const minionOf = (world: World, who: number): SimulatedMinion => world.minions[who % world.minions.length]!;
const jobOf = (world: World, which: number): Published | undefined =>
  world.published[which % Math.max(1, world.published.length)];

/** The bits of `who` choose minions; nobody means everybody. */
function chosen(world: World, who: number): string[] {
  const ids = world.minions.filter((_, at) => (who >> at) & 1).map(({ id }) => id);
  return ids.length > 0 ? ids : world.minions.map(({ id }) => id);
}

const planOf = (amount: number): { ms: number; retcode: number } => ({
  ms: durations[amount % durations.length]!,
  retcode: amount % 7 === 6 ? 1 : 0,
});

const happenings: readonly (readonly [string, Happening])[] = [
  ['publish', (world, who, amount) => world.publish(chosen(world, who), planOf(amount), {})],
  ['publish durable', (world, who, amount) => world.publish(chosen(world, who), planOf(amount), { durableSeconds })],
  [
    'publish with deadline',
    (world, who, amount) => world.publish(chosen(world, who), planOf(amount), { deadlineSeconds: 1 + (amount % 9) }),
  ],
  [
    'publish batch',
    (world, who, amount) => world.publish(chosen(world, who), planOf(amount), {}, String(1 + (amount % 3))),
  ],
  ['wait', (world, _who, amount) => world.clock.advance(waits[amount % waits.length]!)],
  ['wait', (world, _who, amount) => world.clock.advance(waits[amount % waits.length]!)],
  ['connection lost', (world, who) => world.disconnect(minionOf(world, who), 'connection')],
  [
    'minion stopped',
    (world, who, amount) => world.disconnect(minionOf(world, who), amount % 2 === 0 ? 'process' : 'machine'),
  ],
  ['connected', (world, who) => world.connect(minionOf(world, who))],
  ['connected', (world, who) => world.connect(minionOf(world, who))],
  [
    'result sent again',
    (world, who, amount) => {
      const minion = minionOf(world, who);
      const load = minion.taken[amount % Math.max(1, minion.taken.length)];
      if (load && minion.connected) void world.deliver(minion.id, { ...load }).catch(() => {});
    },
  ],
  ['cancelled', (world, who) => void world.cancel(jobOf(world, who)?.jid ?? '')],
  ['killed', (world, who, amount) => world.kill(jobOf(world, who)?.jid ?? '', chosen(world, amount))],
  ['key deleted', (world, who) => world.deleteKey(minionOf(world, who).id)],
  ['master restarted', (world, _who, amount) => world.restartMaster(waits[amount % waits.length]!)],
  ['clock set', (world, _who, amount) => world.clock.step(steps[amount % steps.length]!)],
];

export const nameOf = ([kind, who, amount]: Event): string =>
  `${happenings[kind % happenings.length]![0]} ${who} ${amount}`;

/** Plays the events, waits until everything is finished, and checks the invariants. */
export async function play(store: JobLifeStore, events: readonly Event[]): Promise<void> {
  const world = new World(store);
  try {
    await world.start();
    for (const [kind, who, amount] of events) {
      await happenings[kind % happenings.length]![1](world, who, amount);
      await world.settle();
      for (const job of world.published) checkStream(job);
    }
    await comeToRest(world);
    for (const job of world.published) await checkJob(world, job);
    checkWorld(world);
  } finally {
    world.stop();
  }
}

/** Everybody is there again and stays; longer than any job, any wait and any durable job takes. */
async function comeToRest(world: World): Promise<void> {
  for (const minion of world.minions) world.connect(minion);
  await world.clock.advance(120_000);
  for (const minion of world.minions) minion.drain();
  // However often the clock was set back, the last moment of every durable job comes.
  const last = Math.max(0, ...world.master.durable.list().map(({ until }) => until - Date.now()));
  await world.clock.advance(last + 2 * durableSeconds * 1000);
}

/** What a command prints: each minion's fate once, one end, nothing after it. */
function checkStream({ jid, items, targeted }: Published): void {
  const end = items.findIndex(({ type }) => type === 'end');
  hold(end === -1 || end === items.length - 1, `${jid}: nothing comes after the end`);
  for (const id of targeted) {
    const count = (type: string): number =>
      items.filter((item) => item.type === type && 'id' in item && item.id === id).length;
    hold(count('return') <= 1, `${jid} ${id}: one result is shown once`);
    hold(count('missing') + count('queued') <= 1, `${jid} ${id}: one reason is shown once`);
  }
}

async function checkJob(world: World, job: Published): Promise<void> {
  const { jid, items, targeted } = job;
  checkStream(job);
  const last = items.at(-1);
  if (!job.cut) {
    hold(last?.type === 'end', `${jid}: the command ends`);
    const balance = new Map(dictEntries(last.balance));
    const sum = [...balance.values()].reduce<number>((all, count) => all + Number(count), 0);
    hold(sum === targeted.length, `${jid}: ${sum} verdicts for ${targeted.length} minions`);
    hold(balance.get('waiting') === 0 && balance.get('running') === 0, `${jid}: no minion is left open`);
    for (const id of targeted)
      hold(
        items.some((item) => item.type !== 'progress' && 'id' in item && item.id === id),
        `${jid} ${id}: its outcome is shown`,
      );
  }
  if (jid === '') return;
  const returns = await world.store.returns(jid);
  for (const id of targeted) await checkMinion(world, job, id, returns.get(id));
}

async function checkMinion(
  world: World,
  { jid, durable, left }: Published,
  id: string,
  stored: object | undefined,
): Promise<void> {
  const key = `${jid} ${id}`;
  const taken = world.acknowledged.get(key);
  const result = stored && 'return' in stored ? stored.return : undefined;
  if (taken !== undefined)
    hold(result === taken, `${key}: an acknowledged result is stored as it was (${String(result)}, ${String(taken)})`);
  const [verdict] = await world.store.verdicts(jid, id);
  const reason = verdict !== undefined && verdict.verdict !== 'queued' && verdict.reason !== '';
  hold(
    stored !== undefined || reason || left,
    `${key}: a result or a reason is stored (${verdict?.verdict} ${verdict?.reason})`,
  );
  if (durable && id.startsWith('h') && world.keys.has(id) && !left && !world.clock.leapt)
    hold(
      stored !== undefined || verdict?.verdict === 'expired',
      `${key}: a durable job runs or expires (${verdict?.reason})`,
    );
  const known = world.master.tracker.job(jid)?.verdict(id)?.kind;
  if (stored)
    hold(
      known === undefined || known === 'returned' || known === 'failed' || known === 'deadline',
      `${key}: a result counts, not ${known}`,
    );
  const runs = world.runs.get(key) ?? 0;
  // A Salt minion that died before it said anything about the job is sent it again, once: nobody knows whether it began.
  const most = id.startsWith('h') ? 1 : 2;
  if (durable) hold(runs <= most, `${key}: a durable job runs once, not ${runs} times`);
  if (stored) hold(runs >= 1, `${key}: a result comes from a run`);
}

function checkWorld(world: World): void {
  const { tracker, durable } = world.master;
  hold(world.errors.length === 0, `no errors are logged: ${world.errors.join('; ')}`);
  // Questions nobody waits for are given up when there are many, or after an hour.
  const open = tracker.active().filter(({ fun }) => !fun.startsWith('saltutil.'));
  hold(open.length === 0, `no job is tracked without end: ${open.map(({ fun, jid }) => `${fun} ${jid}`).join(', ')}`);
  hold(durable.list().length === 0, `no durable job waits without end: ${JSON.stringify(durable.list())}`);
  for (const minion of world.minions)
    hold(minion.idle || !world.keys.has(minion.id), `${minion.id} delivered its results`);
}
