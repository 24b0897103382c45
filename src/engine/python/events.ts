// Events for functions in Python that wait for them: each reader has a number, and is closed with the call.
import { asText, type Dict, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { boundedRegex } from '../../base/util/bounded-regex.ts';
import { globMatcher } from '../../base/util/fnmatch.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { PythonCaller } from '../../extend/loader/index.ts';
import type { EngineContext, EngineEvent, MasterServices } from '../../extend/sdk/index.ts';

interface Reader {
  readonly events: AsyncIterator<EngineEvent>;
  /** The next event, while somebody waits or gave up waiting for it. */
  coming: Promise<IteratorResult<EngineEvent, unknown>> | undefined;
  readonly close: () => void;
}

const readers = new WeakMap<PythonCaller, Map<number, Reader>>();
const mostReaders = 16;
let last = 0;

/** Begins to read; the number of the reader. */
export async function listen(caller: PythonCaller): Promise<Value> {
  const own = readers.get(caller) ?? new Map<number, Reader>();
  readers.set(caller, own);
  if (own.size >= mostReaders) throw new HaliteError('call.failed', `at most ${mostReaders} readers of events at once`);
  own.set(++last, open(caller));
  return last;
}

function open(caller: PythonCaller): Reader {
  const engine = caller as Partial<EngineContext>;
  if (typeof engine.events === 'function') {
    const events = engine.events();
    return { events, coming: undefined, close: () => void events.return?.() };
  }
  const { subscribe } = (caller.master ?? {}) as Partial<MasterServices>;
  if (!subscribe) throw new HaliteError('call.failed', 'Waiting for events works in engines and runners of Halite');
  const end = new AbortController();
  const events = subscribe('', end.signal)[Symbol.asyncIterator]();
  return { events, coming: undefined, close: () => end.abort() };
}

/** The next event that matches, as `{tag, data}`; null when none came in time, and after the end. */
export async function nextEvent(caller: PythonCaller, args: readonly Value[]): Promise<Value> {
  const [n, tag, form, wait] = args;
  const reader = readers.get(caller)?.get(Number(n));
  if (!reader) return null;
  const matches = matcherOf(asText(tag) ?? '', asText(form) ?? 'startswith');
  const until = typeof wait === 'number' ? performance.now() + wait * 1000 : undefined;
  for (;;) {
    reader.coming ??= reader.events.next();
    const left = until === undefined ? undefined : Math.max(0, until - performance.now());
    const came = await (left === undefined ? reader.coming : withTimeout(reader.coming, left, () => undefined));
    if (came === undefined) return null;
    reader.coming = undefined;
    if (came.done) return null;
    if (matches(came.value.tag)) return eventOf(came.value);
  }
}

const eventOf = ({ tag, data }: EngineEvent): Dict => newDict(Object.entries({ tag, data }));

function matcherOf(tag: string, form: string): (text: string) => boolean {
  if (tag === '') return () => true;
  switch (form) {
    case 'startswith':
      return (text) => text.startsWith(tag);
    case 'endswith':
      return (text) => text.endsWith(tag);
    case 'find':
      return (text) => text.includes(tag);
    case 'fnmatch':
      return globMatcher(tag);
    case 'regex': {
      const pattern = boundedRegex(tag);
      return (text) => pattern.test(text);
    }
    default:
      throw new HaliteError('call.arguments', `"${form}" is no way to match the tag of an event`);
  }
}

export function unlisten(caller: PythonCaller, n: Value | undefined): null {
  const own = readers.get(caller);
  own?.get(Number(n))?.close();
  own?.delete(Number(n));
  return null;
}

/** The call is over. */
export function closeReaders(caller: PythonCaller): void {
  for (const n of readers.get(caller)?.keys() ?? []) unlisten(caller, n);
}
