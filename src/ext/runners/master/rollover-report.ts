// How a change of the master's key stands, for operators.
import { HaliteError, type MasterContext, newDict, type PlainDict } from 'halite/sdk';
import type { RolloverStatus } from '../shared/rollover.ts';

const moment = (ms: number): string =>
  ms > 0 ? new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z') : 'not since this master started';

/** What to do on a minion that cannot take the new key by itself. */
const byHand = [
  'remove minion_master.pub from its pki folder: rm /etc/salt/pki/minion/minion_master.pub',
  'restart it: systemctl restart salt-minion',
];

export function reportOf(status: RolloverStatus): PlainDict {
  const { phase, from, to, at, until, compromised, minions } = status;
  const report = newDict([['phase', phase]]);
  if (phase === 'none') return report;
  report['key before'] = from;
  report['key after'] = to;
  if (phase === 'announced')
    report['switch'] =
      at === 0
        ? 'on command: salt-run master.rotate_keys switch=True'
        : at === 1
          ? 'when no minion would be left behind'
          : moment(at);
  if (phase === 'switched' && until > 0) report['old key serves until'] = moment(until);
  const listed = (standing: string): PlainDict =>
    newDict(
      minions.filter((one) => one.standing === standing).map(({ id, seen }) => [id, `last seen ${moment(seen)}`]),
    );
  const groups: readonly (readonly [string, string])[] =
    phase === 'announced'
      ? [
          ['ready', 'ready'],
          ['not yet; get it when they come', 'later'],
          ['cannot take a new key', 'by-hand'],
        ]
      : [
          ['have the new key', 'moved'],
          ['take it when they come', 'later'],
          ['cannot take it', 'by-hand'],
        ];
  for (const [title, standing] of groups) {
    const found = listed(standing);
    if (Object.keys(found).length > 0) report[title] = found;
  }
  const hand = minions.some(({ standing }) => standing === 'by-hand' || (phase === 'ended' && standing !== 'moved'));
  if (hand && phase === 'announced')
    report['before the switch'] = [
      'salt-run master.rotate_keys prepare=True',
      'or, after the switch, on each of them:',
      ...byHand,
    ];
  else if (hand)
    report['on each of those'] = compromised
      ? byHand
      : ['before the end: salt-run master.rotate_keys prepare=True', ...byHand];
  return report;
}

/** Connected minions whose `master_finger` is not that of the next key. */
export async function fingered(ctx: MasterContext, { to }: RolloverStatus): Promise<string[]> {
  const pinned: string[] = [];
  try {
    const { returns } = await ctx.master.runJob({
      ...{ tgt: '*', tgt_type: 'glob', fun: 'config.get', arg: ['master_finger'], timeoutSeconds: 30 },
    });
    for (const [id, { ret }] of Object.entries(returns))
      if (typeof ret === 'string' && ret.trim() !== '' && ret.trim().toLowerCase() !== to) pinned.push(id);
  } catch (error) {
    if (!(error instanceof HaliteError && error.code === 'target.empty')) throw error;
  }
  return pinned.sort();
}
