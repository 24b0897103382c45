// The loads that minions send, one type per command.

import { boolField, dictField, intField, listField, textField, textsField } from '../../../base/codec/fields.ts';
import {
  type Dict,
  dictEntries,
  dictGet,
  dictOf,
  dictSize,
  isDict,
  newDict,
  type Value,
} from '../../../base/codec/value.ts';
import { type Problem, problem } from './fields.ts';
import { proofFields } from './request.ts';

export interface MinionEvent {
  readonly tag: string;
  readonly data: Dict;
}

/** `_minion_event`, in either form, as the events to fire; minion-event-filter.ts filters by tag. */
export function readMinionEvents(load: Dict): readonly MinionEvent[] | Problem {
  const list = listField(load, 'events');
  const pretag = textField(load, 'pretag');
  if (!list) {
    const tag = textField(load, 'tag');
    // Salt: the data of a single event is the whole load.
    return tag === undefined ? problem('an event without tag') : [{ tag, data: withoutProof(load) }];
  }
  const events: MinionEvent[] = [];
  for (const item of list) {
    const tag = isDict(item) ? textField(item, 'tag') : undefined;
    if (!isDict(item) || tag === undefined) continue;
    const data = dictField(item, 'data') ?? newDict();
    events.push({ tag, data });
    if (pretag) events.push({ tag: `${pretag}/${tag}`, data });
  }
  return events;
}

const withoutProof = (load: Dict): Dict => dictOf(dictEntries(load).filter(([name]) => !proofFields.has(name)));

/** `_pillar`. A field that is absent or has the wrong type is undefined. */
export interface PillarFields {
  readonly grains: Dict;
  readonly saltenv: string | undefined;
  readonly pillarenv: string | undefined;
  /** Values of one command (`pillar=`); absent when there are none. */
  readonly override: Dict | undefined;
  readonly ext: Value | undefined;
  readonly extraMinionData: Value | undefined;
  readonly cleanCache: boolean;
}

export function readPillarFields(load: Dict): PillarFields {
  const override = dictField(load, 'pillar_override');
  return {
    grains: dictField(load, 'grains') ?? newDict(),
    // 2015.5 minions call it `env`.
    saltenv: textField(load, 'saltenv') ?? textField(load, 'env'),
    pillarenv: textField(load, 'pillarenv'),
    override: override && dictSize(override) > 0 ? override : undefined,
    ext: dictGet(load, 'ext') ?? undefined,
    extraMinionData: dictGet(load, 'extra_minion_data') ?? undefined,
    cleanCache: boolField(load, 'clean_cache'),
  };
}

/** `_mine`: values to store, replacing all others when `clear` is set. */
export function readMineUpdate(load: Dict): { readonly data: Dict; readonly clear: boolean } | Problem {
  const data = dictField(load, 'data');
  return data ? { data, clear: boolField(load, 'clear') } : problem('a mine update without data');
}

export interface MineQuery {
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  readonly fun: readonly string[];
  /** One function returns its values directly, several return a map by function. */
  readonly single: boolean;
}

/** `_mine_get`; `fun` is a text, a comma-separated text or a list, and old minions send `expr_form`. */
export function readMineQuery(load: Dict): MineQuery | Problem {
  const tgt = textsField(load, 'tgt');
  const fun = textsField(load, 'fun');
  if (tgt === undefined || fun === undefined) return problem('a mine query without tgt or fun');
  const names = (typeof fun === 'string' ? fun.split(',') : fun)
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return {
    tgt,
    tgt_type: (textField(load, 'tgt_type') ?? textField(load, 'expr_form') ?? 'glob').toLowerCase(),
    fun: names,
    single: typeof fun === 'string' && names.length === 1,
  };
}

/** `minion_pub` and `minion_publish`: a minion asks the master to run a function on other minions. */
export interface PeerPublish {
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  /** At least one; several have a list of arguments each. */
  readonly functions: readonly string[];
  readonly arg: readonly Value[];
  readonly ret: string;
  /** Seconds. */
  readonly timeout: number;
  readonly full: boolean;
}

/** A minion that waits longer than that asks again for the results (`pub_ret`). */
const longestPeerWait = 3600;

export function readPeerPublish(load: Dict): PeerPublish | Problem {
  const tgt = textsField(load, 'tgt');
  const functions = (textField(load, 'fun') ?? '').split(',');
  if (tgt === undefined || functions.includes('')) return problem('a peer publish without tgt or fun');
  const given = listField(load, 'arg') ?? [];
  const timeout = Math.max(0, intField(load, 'tmo') ?? intField(load, 'timeout') ?? 5);
  return {
    tgt,
    tgt_type: textField(load, 'tgt_type') ?? textField(load, 'expr_form') ?? 'glob',
    functions,
    arg: functions.length === 1 ? given : functions.map((_, at) => ownArguments(given[at])),
    ret: textField(load, 'ret') ?? '',
    timeout: Math.min(longestPeerWait, timeout),
    full: textField(load, 'form') === 'full',
  };
}

/** As in Salt: with several functions the arguments of each are a list, or words. */
function ownArguments(value: Value | undefined): Value[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? value.split(/\s+/).filter((word) => word !== '') : [];
}

/** `minion_runner`. */
export function readPeerRunner(load: Dict): { readonly fun: string; readonly arg: readonly Value[] } | Problem {
  const fun = textField(load, 'fun');
  return fun === undefined ? problem('a runner call without fun') : { fun, arg: listField(load, 'arg') ?? [] };
}
