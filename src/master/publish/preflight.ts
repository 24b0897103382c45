// Before a job is sent: the status of the minions that a target matches, and whether enough of them are reachable.

import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import { listFirst } from '../../base/util/list-first.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { duplicateText, type Reasons } from '../tracking/reasons.ts';
import type { MatchOptions, Targets } from './targets.ts';

export interface PreflightParts {
  readonly targets: Pick<Targets, 'match'>;
  readonly fleet: Pick<Fleet, 'known' | 'connected' | 'connections'>;
  readonly reasons: Pick<Reasons, 'knownAbsent' | 'isSuspect' | 'silence'>;
}

/** Every minion is in exactly one class. */
export const preflightClasses = [
  'connected',
  'heard',
  'duplicate',
  'away',
  'too_old',
  'not_seen',
  'not_evaluated',
] as const;
export type PreflightClass = (typeof preflightClasses)[number];

export interface Preflight {
  readonly matched: string[];
  readonly unknown: string[];
  /** Ids of each class; with the reason if there is one. */
  readonly classes: Readonly<Record<PreflightClass, PlainDict>>;
}

export function preflight(
  parts: PreflightParts,
  tgt: string | readonly string[],
  kind: string,
  options: MatchOptions,
): Preflight {
  const { matched, unknown, absent } = parts.targets.match(tgt, kind, options);
  const classes = Object.fromEntries(preflightClasses.map((name) => [name, newDict()])) as Record<
    PreflightClass,
    PlainDict
  >;
  const put = (id: string): void => {
    const [name, why] = classOf(parts, id);
    classes[name][id] = why;
  };
  for (const id of matched) put(id);
  for (const id of unknown) classes.not_evaluated[id] = parts.reasons.knownAbsent(id)?.text ?? '';
  for (const id of absent) put(id);
  return { matched, unknown, classes };
}

/** The class of a minion, and the reason. */
export function classOf(parts: PreflightParts, id: string): [PreflightClass, string] {
  const absent = parts.reasons.knownAbsent(id);
  if (absent) return [absent.code === 'too-old' ? 'too_old' : 'away', absent.text];
  const record = parts.fleet.known(id);
  const duplicates = duplicateText(parts.fleet.connections(id));
  if (duplicates) return ['duplicate', duplicates];
  if (parts.fleet.connected(id) === 'yes') return ['connected', ''];
  if (parts.reasons.isSuspect(id)) {
    const why = parts.reasons.silence(id);
    return [why.code === 'too-old' ? 'too_old' : 'away', why.text];
  }
  // Connections of Salt minions over ZeroMQ are not visible: what counts is that they sent something.
  return [record && record.lastContact > 0 ? 'heard' : 'not_seen', ''];
}

/** `98%` or `12`: the required number out of a total. */
export function requiredCount(text: string, total: number): number {
  const match = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim());
  if (!match || (match[2] && Number(match[1]) > 100)) {
    throw new HaliteError('cli.usage', `Invalid share '${text}'`, { hint: 'Write for example 98% or 12.' });
  }
  // Floating-point noise must not turn 98% of 50 into 49.000000001.
  return match[2] ? Math.max(0, Math.ceil((Number(match[1]) / 100) * total - 1e-9)) : Number(match[1]);
}

/** --require: nothing is sent when fewer minions than that are reachable. */
export function refuseBelow(log: Pick<Logger, 'info'>, found: Preflight, require: string): void {
  const { connected, heard, duplicate } = found.classes;
  const reachable = [connected, heard, duplicate].reduce((sum, ids) => sum + Object.keys(ids).length, 0);
  const total = Object.values(found.classes).reduce((sum, ids) => sum + Object.keys(ids).length, 0);
  const needed = requiredCount(require, total);
  if (reachable >= needed) return;
  log.info('job refused by --require', { require, reachable, total });
  const share = total > 0 ? ` (${Math.floor((reachable / total) * 1000) / 10}%)` : '';
  throw new HaliteError(
    'call.failed',
    `Not sent: --require ${require} needs ${needed} of ${total} minions, ${reachable}${share} are reachable`,
    {
      hint: preflightText(found.classes),
      details: { exitCode: exitCodes.tempFail },
    },
  );
}

const words: Readonly<Record<PreflightClass, string>> = {
  connected: 'connected',
  heard: 'heard from',
  duplicate: 'duplicate',
  away: 'away',
  too_old: 'too old',
  not_seen: 'not seen yet',
  not_evaluated: 'not evaluated',
};
/** Number of minions named in the summary line before it is truncated. */
const named = 5;

/** `4 minions: 2 connected, 1 away (db1: its connection …), 1 not evaluated (web9)`. */
export function preflightText(classes: Readonly<Record<PreflightClass, PlainDict>>): string {
  const parts: string[] = [];
  let total = 0;
  for (const name of preflightClasses) {
    const entries = Object.entries(classes[name] ?? {});
    total += entries.length;
    if (entries.length === 0) continue;
    const count = `${entries.length.toLocaleString('en-US')} ${words[name]}`;
    if (name === 'connected' || name === 'heard') parts.push(count);
    else
      parts.push(
        `${count} (${listFirst(
          entries.map(([id, why]) => (why ? `${id}: ${String(why)}` : id)),
          named,
          '; ',
        )})`,
      );
  }
  return `${total.toLocaleString('en-US')} minion${total === 1 ? '' : 's'}: ${parts.join(', ')}`;
}
