// Users' returners written as plain exported functions with Salt's names, converted to the form of `defineReturner`.
import { asList, dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Availability, JobCache, Returner, ReturnerContext, ReturnerSession } from '../sdk/index.ts';
import { readFileComment } from './comments.ts';

type Exports = Readonly<Record<string, unknown>>;
type PlainFunction = (this: unknown, ...args: unknown[]) => unknown;

/**
 * A file that exports `returner(ret)` and, if it stores jobs or events, Salt's `save_load`, `get_load`, `get_jid`,
 * `get_fun`, `get_jids`, `get_minions`, `clean_old_jobs` and `event_return`. Each is called with the context as `this`.
 */
export function plainReturner(name: string, exports: Exports, source: string): Returner | undefined {
  if (typeof exports['returner'] !== 'function' && typeof exports['event_return'] !== 'function') return undefined;
  const virtual = exports['__virtualname__'];
  return {
    kind: 'returners',
    name,
    ...(typeof virtual === 'string' ? { virtualName: virtual } : {}),
    doc: readFileComment(source),
    options: {},
    keeps: [
      ...(typeof exports['save_load'] === 'function' ? (['jobs'] as const) : []),
      ...(typeof exports['event_return'] === 'function' ? (['events'] as const) : []),
    ],
    available: (system) => askVirtual(exports['__virtual__'], system),
    open: (_options: never, ctx: ReturnerContext) => sessionOf(name, exports, ctx),
  };
}

/** Salt's `__virtual__`: true, a name, false, or [false, reason]. */
export async function askVirtual(virtual: unknown, system: Availability): Promise<true | string> {
  if (typeof virtual !== 'function') return true;
  const answer: unknown = await (virtual as PlainFunction).call(system);
  if (Array.isArray(answer)) return answer[0] ? true : String(answer[1] ?? 'not available');
  return answer ? true : 'not available';
}

function sessionOf(name: string, exports: Exports, ctx: ReturnerContext): ReturnerSession {
  const has = (fun: string): boolean => typeof exports[fun] === 'function';
  const call = async (fun: string, ...args: unknown[]): Promise<Value> => {
    if (!has(fun)) throw new Error(`The returner ${name} has no function ${fun}`);
    return ((await (exports[fun] as PlainFunction).apply(ctx, args)) ?? null) as Value;
  };
  return {
    save: async (ret) => void (await call('returner', ret)),
    ...(has('event_return') ? { saveEvents: async (events) => void (await call('event_return', events)) } : {}),
    ...(has('save_load') && has('get_load') ? { jobCache: cacheOf(call, has) } : {}),
    ...(has('close') ? { close: async () => void (await call('close')) } : {}),
  };
}

function cacheOf(call: (fun: string, ...args: unknown[]) => Promise<Value>, has: (fun: string) => boolean): JobCache {
  const table = async (fun: string, ...args: unknown[]): Promise<Map<string, PlainDict>> => {
    const found = new Map<string, PlainDict>();
    const answer = has(fun) ? await call(fun, ...args) : null;
    if (!isDict(answer)) return found;
    for (const key of answer instanceof Map ? answer.keys() : Object.keys(answer)) {
      const value = dictGet(answer, key);
      if (value !== undefined) found.set(String(key), asLoad(value));
    }
    return found;
  };
  return {
    saveLoad: async (jid, load, minions) => void (await call('save_load', jid, load, minions)),
    async load(jid) {
      const answer = await call('get_load', jid);
      return isDict(answer) && Object.keys(answer).length > 0 ? asLoad(answer) : undefined;
    },
    returns: (jid) => table('get_jid', jid),
    lastOf: (fun) => table('get_fun', fun),
    jids: () => table('get_jids'),
    async minions() {
      const answer = has('get_minions') ? await call('get_minions') : [];
      return (asList(answer) ?? []).map(String);
    },
    ...(has('clean_old_jobs')
      ? { clean: async (seconds) => Number((await call('clean_old_jobs', seconds)) ?? 0) }
      : {}),
  };
}

const asLoad = (value: Value): PlainDict =>
  isDict(value) ? newDict(Object.entries(value)) : newDict([['return', value]]);
