// Results of runners and wheel functions as Salt's masters store them: the whole event of the run is the `return`.
import { dictGet, isDict, newDict, type PlainDict, type Value } from 'halite/sdk';
import { plainDict } from './loads.ts';

const isMasterFunction = (fun: Value | undefined): boolean =>
  typeof fun === 'string' && /^(?:runner|wheel)\./.test(fun);

/** The event inside a stored return; undefined when there is none. */
export function eventOf(ret: PlainDict): PlainDict | undefined {
  const inner = ret['return'];
  if (!isMasterFunction(ret['fun']) || !isDict(inner) || dictGet(inner, 'return') === undefined) return undefined;
  return dictGet(inner, 'fun') === ret['fun'] && dictGet(inner, 'jid') === ret['jid'] ? plainDict(inner) : undefined;
}

/** The load in the form that dashboards of Salt's tables expect; other results are unchanged. */
export function asStored(ret: PlainDict): PlainDict {
  if (!isMasterFunction(ret['fun']) || eventOf(ret)) return ret;
  const event = newDict();
  for (const field of ['fun_args', 'jid', 'return', 'success', '_stamp', 'user', 'fun'] as const) {
    if (ret[field] !== undefined) event[field] = ret[field];
  }
  return newDict([...Object.entries(ret), ['return', event]]);
}

/** The reverse, also for rows of real Salt masters. */
export function asReturned(ret: PlainDict | undefined): PlainDict | undefined {
  const event = ret && eventOf(ret);
  if (!ret || !event) return ret;
  const load = newDict([...Object.entries(ret), ['return', event['return']!]]);
  for (const field of ['success', 'fun_args'] as const) {
    if (load[field] === undefined && event[field] !== undefined) load[field] = event[field];
  }
  return load;
}
