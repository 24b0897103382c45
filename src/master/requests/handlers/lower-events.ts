// What the syndics of lower masters say in events: that they are there, which minions have a job, and why a minion of
// theirs returns nothing.
import { dictField, textField } from '../../../base/codec/fields.ts';
import {
  asPlainDict,
  type Dict,
  dictEntries,
  dictGet,
  dictOf,
  isDict,
  isTexts,
  newDict,
  type Value,
} from '../../../base/codec/value.ts';
import { isJid } from '../../../base/util/jid.ts';
import { viaField } from '../../../protocol/event/event.ts';
import { isReasonCode, type Reason } from '../../../protocol/job/verdict.ts';
import type { LowerMasters } from '../../lower-masters/lower-masters.ts';
import type { Tracker } from '../../tracking/tracker.ts';

export interface LowerEventParts {
  readonly lower: Pick<LowerMasters, 'on' | 'has' | 'started' | 'minionStarted' | 'passedOn' | 'via'>;
  readonly tracker: Pick<Tracker, 'missingBelow'>;
}

/** Of Halite's own syndic: reasons of minions, by their id. */
export const belowTag = 'halite/below/';
/** In its start event. */
const haliteField = 'halite_syndic';
/** In the list of minions of a job: another list follows. */
const growingField = 'halite_growing';
const mostIds = 100_000;
const longestText = 2000;
const longestPath = 16;

export function noteLower(lower: LowerEventParts['lower'], id: string, tag: string, data: Dict): void {
  if (tag === `salt/syndic/${id}/start`) lower.started(id, dictGet(data, haliteField) === true);
  else if (tag === `salt/minion/${id}/start`) lower.minionStarted(id);
  else if (tag.startsWith(`syndic/${id}/`)) {
    const minions = dictGet(data, 'minions');
    const growing = dictGet(data, growingField) === true;
    lower.passedOn(id, tag, isTexts(minions) ? minions.slice(0, mostIds) : undefined, growing);
  }
}

/** The event with the way it came: a syndic does not send it to where it has been. */
export function withPath(data: Dict, from: string): Dict {
  const path = dictGet(data, viaField);
  const before = isTexts(path) ? path.slice(-longestPath) : [];
  return dictOf([...dictEntries(data).filter(([name]) => name !== viaField), [viaField, [...before, from]]]);
}

/** Only about minions that this lower master has, and only for jobs that wait for them. */
export function takeReasons(
  { lower, tracker }: LowerEventParts,
  from: string,
  tag: string,
  data: Value | undefined,
): void {
  const jid = tag.slice(belowTag.length);
  const missing = isDict(data) ? dictField(data, 'missing') : undefined;
  if (!lower.on || !lower.has(from) || !isJid(jid) || !missing) return;
  for (const [id, said] of dictEntries(missing).slice(0, mostIds)) {
    const why = typeof id === 'string' && isDict(said) ? readReason(said, from) : undefined;
    if (why && lower.via(id as string) === from) tracker.missingBelow(jid, id as string, why);
  }
}

function readReason(said: Dict, from: string): Reason | undefined {
  const code = textField(said, 'code') ?? '';
  if (!isReasonCode(code)) return undefined;
  const text = (textField(said, 'text') ?? '').slice(0, longestText);
  const given = asPlainDict(dictGet(said, 'evidence')) ?? newDict();
  const inner = textField(given, 'lower_master');
  const evidence = { ...given, lower_master: inner === undefined ? from : `${from}, ${inner}` };
  return { code, text: `${text} (below ${from})`, evidence };
}
