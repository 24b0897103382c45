// `master.rotate_keys`: a new RSA key for the master, or for all masters of a cluster, without touching minions.
import { setTimeout as sleep } from 'node:timers/promises';
import { HaliteError, type MasterContext, masterFn, newDict, p, type Value } from 'halite/sdk';
import { type RolloverStatus, statusOf } from '../shared/rollover.ts';
import { prepareMinions } from './prepare-minions.ts';
import { fingered, reportOf } from './rollover-report.ts';

const steps = ['status', 'prepare', 'switch', 'back', 'abort', 'end', 'compromised'] as const;
type Step = (typeof steps)[number] | 'announce';
const dayMs = 86_400_000;

const flag = (doc: string) => p.bool({ default: false, doc });

/** `at`: a time, `all`, or nothing. */
function timeOf(at: string): number {
  if (at === '') return 0;
  if (at === 'all') return 1;
  const time = Date.parse(at);
  if (Number.isNaN(time))
    throw new HaliteError('call.arguments', `at=${at} is neither a time like 2026-11-20T02:00 nor all`);
  if (time < Date.now()) throw new HaliteError('call.arguments', `at=${at} is in the past`);
  return time;
}

const day = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

interface Asked {
  readonly step: Step;
  readonly at: number;
  readonly graceMs: number;
  readonly force: boolean;
}

/** What the step would do, in plain words. */
function planOf({ step, at, graceMs, force }: Asked, status: RolloverStatus, pinned: readonly string[]): string[] {
  const days = graceMs / dayMs;
  const late = status.minions.filter(({ standing }) => standing === 'by-hand').map(({ id }) => id);
  const moving = [
    'The key files and the state of the change are copied to cachedir/backup.',
    `master.pem becomes master_old.pem, and the new key becomes master.pem. For ${days} days both are in use.`,
    'The AES key changes, so every minion signs in again at its next message.',
    'Halite minions and those prepared get the new key; all others are still answered with the old one.',
  ];
  switch (step) {
    case 'announce':
      return status.phase === 'announced'
        ? ['The next key is announced already; only the time of the switch would change.']
        : [
            'The key files are copied to cachedir/backup; a new key is made: master_next.pem.',
            'The present key signs the new one, and Halite minions store that with their next sign-in or heartbeat.',
            at === 0
              ? 'Nothing else happens until: salt-run master.rotate_keys switch=True'
              : at === 1
                ? 'The switch follows when no minion would be left behind.'
                : `The switch follows at ${day(at)}.`,
          ];
    case 'switch':
      return [
        ...moving,
        ...(late.length > 0 ? [`These keep the old key until somebody acts on them: ${late.join(', ')}`] : []),
        ...(pinned.length > 0
          ? [
              `master_finger on these minions pins the old key: ${pinned.join(', ')}; ${force ? 'they are left behind' : 'refused without force=True'}`,
            ]
          : []),
      ];
    case 'back':
      return ['The old key becomes master.pem again, and the new one is the one before.', ...moving.slice(2)];
    case 'abort':
      return ['master_next.pem is deleted. Minions forget the announcement when its time is over.'];
    case 'end':
      return ['master_old.pem is deleted. Minions that do not have the new key are left behind, and are listed.'];
    case 'compromised':
      return [
        'The key files are copied to cachedir/backup; a new key replaces master.pem at once, and the old one is deleted.',
        'Nothing is announced: the old key proves nothing. Minions with verify_master_pubkey_sign take the new key by themselves.',
        'All others need commands by hand, which are listed.',
      ];
    default:
      return [];
  }
}

export const rotateKeys = masterFn({
  doc: 'Gives this master, or all masters of its cluster, a new RSA key: announced, then switched, and at last the old one is deleted. Without a step it announces; steps can be repeated, also after a crash.',
  examples: [
    'salt-run master.rotate_keys --dry-run',
    'salt-run master.rotate_keys',
    'salt-run master.rotate_keys prepare=True',
    'salt-run master.rotate_keys status=True',
    'salt-run master.rotate_keys switch=True',
    'salt-run master.rotate_keys end=True',
  ],
  params: {
    status: flag('only show how it stands'),
    prepare: flag('make real Salt minions able to take a new key: three jobs on each, with a restart'),
    switch: flag('present the new key from now on'),
    back: flag('after the switch: the old key again'),
    abort: flag('before the switch: withdraw the announced key'),
    end: flag('delete the old key'),
    compromised: flag('the present key is known to others: a new one at once, without announcement'),
    at: p.string({
      default: '',
      doc: 'when to switch: a time, or `all` for as soon as no minion would be left behind',
    }),
    grace: p.int({ default: 90, doc: 'days after the switch in which the old key serves those that were away' }),
    wait: p.int({ default: 0, doc: 'seconds to wait until connected Halite minions have the announced key' }),
    force: flag('go on although minions are left behind'),
    tgt: p.oneOf(['string', 'list'], { default: '*', doc: 'with prepare: which minions' }),
    tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
    restart: p.string({
      default: 'systemd-run --on-active=2 systemctl restart salt-minion',
      doc: 'with prepare: a command that restarts a real Salt minion without dying with it',
    }),
    batch: p.int({ default: 10, doc: 'with prepare: how many minions at the same time' }),
    patience: p.int({ default: 120, doc: 'with prepare: seconds to wait for a restarted minion' }),
    dry_run: flag('only show the plan; `--dry-run` is the same'),
  },
  async run(args, ctx) {
    const asked = steps.filter((name) => args[name]);
    if (asked.length > 1) throw new HaliteError('call.arguments', `One step at a time, not ${asked.join(' and ')}`);
    if (args.grace < 1 || args.grace > 3650) throw new HaliteError('call.arguments', 'grace is 1 to 3650 days');
    const step: Step = asked[0] ?? 'announce';
    const request: Asked = { step, at: timeOf(args.at), graceMs: args.grace * dayMs, force: args.force };
    const before = await statusOf(ctx);
    if (step === 'prepare') return prepareMinions(ctx, args);
    const pinned = step === 'switch' ? await fingered(ctx, before) : [];
    const plan = planOf(request, before, pinned);
    if (args.dry_run) return newDict([['plan', plan], ...Object.entries(reportOf(before))]);
    const backup = await carryOut(ctx, request, before, pinned);
    if (step === 'announce') {
      await tellMinions(ctx, before);
      if (args.wait > 0) await waitForMinions(ctx, args.wait);
    }
    const after = await statusOf(ctx);
    const report = step === 'end' ? reportOf({ ...before, phase: 'ended' }) : reportOf(after);
    return newDict([
      ...Object.entries(report),
      ...(backup === undefined ? [] : [['backup', backup] as [string, Value]]),
    ]);
  },
});

async function carryOut(
  ctx: MasterContext,
  { step, at, graceMs, force }: Asked,
  status: RolloverStatus,
  pinned: readonly string[],
): Promise<string | undefined> {
  const { rollover } = ctx.master;
  switch (step) {
    case 'announce':
      // After the switch a repeated call only shows how it stands.
      return status.phase === 'switched' ? undefined : rollover.announce({ at, graceMs });
    case 'switch':
      if (status.phase === 'switched') return undefined;
      if (pinned.length > 0 && !force)
        throw new HaliteError(
          'call.failed',
          `master_finger on these minions pins the present key: ${pinned.join(', ')}`,
          {
            hint: `Set it to ${status.to} there (or remove it) and restart them, or leave them behind with force=True.`,
          },
        );
      return rollover.switchOver();
    case 'back':
      return rollover.back();
    case 'abort':
      await rollover.abort();
      return undefined;
    case 'end': {
      const late = status.minions.filter(({ standing }) => standing !== 'moved').map(({ id }) => id);
      if (status.phase === 'switched' && late.length > 0 && !force)
        throw new HaliteError('call.failed', `These minions do not have the new key: ${late.join(', ')}`, {
          hint: 'Wait for the end of the grace, or leave them behind with force=True.',
        });
      await rollover.end();
      return undefined;
    }
    case 'compromised':
      return rollover.compromised();
    default:
      return undefined;
  }
}

/** They would ask by themselves within a minute or two. */
async function tellMinions(ctx: MasterContext, { minions }: RolloverStatus): Promise<void> {
  const tgt = minions.filter(({ id, halite }) => halite && ctx.master.fleet.status(id)?.connected === 'yes');
  if (tgt.length === 0) return;
  const ids = tgt.map(({ id }) => id);
  await ctx.master.runJob({ tgt: ids, tgt_type: 'list', fun: 'minion.master_key', arg: [], timeoutSeconds: 30 });
}

async function waitForMinions(ctx: MasterContext, seconds: number): Promise<void> {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const { minions } = await statusOf(ctx);
    const waits = minions.filter(
      ({ id, standing, halite }) => halite && standing === 'later' && ctx.master.fleet.status(id)?.connected === 'yes',
    );
    if (waits.length === 0 || performance.now() > until) return;
    ctx.progress(`${waits.length} Halite minions do not have the announced key yet`);
    await sleep(1000, undefined, { signal: ctx.signal });
  }
}
