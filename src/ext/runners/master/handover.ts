// `master.handover`: tells minions their new master. Halite minions do it themselves; for real Salt minions the steps are
// jobs, shown, or with `apply` carried out a few minions at a time.
import {
  dictGet,
  HaliteError,
  isDict,
  type MasterContext,
  masterFn,
  newDict,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';
import { isAddress } from './address.ts';
import { restartsOf, type SaltMove, saltSteps } from './salt-minions.ts';

/** What a minion without the function answers; real Salt minions never have it. */
const notThere = /minion\.use_master['"]? is not available/;

interface Sorted {
  readonly moved: PlainDict;
  readonly refused: PlainDict;
  readonly silent: PlainDict;
  readonly salt: string[];
}

async function askHalite(
  ctx: MasterContext,
  tgt: Value,
  tgt_type: string,
  to: string,
  kwargs: PlainDict,
): Promise<Sorted> {
  const request = {
    tgt: tgt as string,
    tgt_type,
    fun: 'minion.use_master',
    arg: [to],
    kwargs,
    timeoutSeconds: 90,
    moves: true,
  };
  const { returns, missing } = await ctx.master.runJob(request);
  const sorted: Sorted = { moved: newDict(), refused: newDict(), silent: newDict(Object.entries(missing)), salt: [] };
  for (const [id, { ret, success }] of Object.entries(returns)) {
    if (typeof ret === 'string' && notThere.test(ret)) sorted.salt.push(id);
    else if (success && isDict(ret)) sorted.moved[id] = String(dictGet(ret, 'state'));
    else sorted.refused[id] = typeof ret === 'string' ? ret : 'it did not say why';
  }
  sorted.salt.sort();
  return sorted;
}

export const handover = masterFn({
  doc: 'Moves minions to another master with the same key. Halite minions dial it, verify it, and leave this one when it has held; for real Salt minions the steps are shown, or carried out with apply=True.',
  examples: [
    'salt-run master.handover new:4506 --dry-run',
    'salt-run master.handover new:4506',
    "salt-run master.handover new:4506 tgt='web*' apply=True",
    'salt-run master.handover new:4506 finish=True apply=True',
  ],
  params: {
    address: p.string({ doc: 'the new master: `host` or `host:port`' }),
    tgt: p.oneOf(['string', 'list'], { default: '*', doc: 'which minions' }),
    tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
    hold: p.int({
      default: 3600,
      doc: 'seconds for which the new master must be connected before Halite minions leave this one',
    }),
    finish: p.bool({ default: false, doc: 'leave this master now; for real Salt minions the second half of the move' }),
    apply: p.bool({ default: false, doc: 'carry out the steps on real Salt minions' }),
    restart: p.string({
      default: 'systemd-run --on-active=2 systemctl restart salt-minion',
      doc: 'a command that restarts a real Salt minion without dying with it',
    }),
    publish_port: p.int({
      default: 4505,
      doc: 'the publish port of the new master, to see that real Salt minions are connected',
    }),
    batch: p.int({ default: 10, doc: 'how many real Salt minions at the same time' }),
    wait: p.int({ default: 120, doc: 'seconds to wait for a restarted minion' }),
    dry_run: p.bool({ default: false, doc: 'only dial and verify; nothing is written' }),
  },
  async run(args, ctx) {
    const { address, tgt, tgt_type, hold, finish, dry_run: test } = args;
    if (!isAddress(address)) throw new HaliteError('call.arguments', `${address} is not an address like new:4506`);
    const { moved, refused, silent, salt } = await askHalite(
      ctx,
      tgt,
      tgt_type,
      address,
      newDict(Object.entries({ hold, finish, test })),
    );
    const move: SaltMove = { ...args, ids: salt };
    const report = newDict([
      ['halite', moved],
      ['refused', refused],
      ['silent', silent],
    ]);
    if (salt.length > 0) {
      if (args.apply && !test) report['salt'] = await restartsOf(ctx, move);
      else report['salt, to do'] = saltSteps(move);
    }
    const bad = Object.keys(refused).length + Object.keys(silent).length;
    if (bad > 0 || (isDict(report['salt']) && dictGet(report['salt'], 'stopped') !== undefined)) ctx.setRetcode(1);
    return report;
  },
});
