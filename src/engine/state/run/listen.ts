// `listen`, `listen_in` and `beacon`: calls after all states have run.
import { pyStr } from '../../../base/codec/python/index.ts';
import { asList, dictEntries, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { type Chunk, entryOf, shown } from '../data.ts';
import { requisites } from '../keywords.ts';
import { tagOf } from '../tags.ts';
import { isChanged } from './requisites.ts';

type Results = Readonly<Record<string, PlainDict>>;

export interface Listening {
  /** Chunks to run now. */
  readonly chunks: Chunk[];
  /** Results for references without a target, by tag. */
  readonly errors: Record<string, PlainDict>;
}

/** A state that listens, and what it listens to. */
interface Listener {
  readonly state: Value;
  readonly reference: Value;
  readonly listensTo: readonly Value[];
}

/** The `mod_watch` calls caused by changes of listened-to states. */
export function listenersOf(chunks: readonly Chunk[], running: Results): Listening {
  const index = new ReferenceIndex(chunks);
  const found: Chunk[] = [];
  const errors = newDict() as Record<string, PlainDict>;
  for (const listener of collect(chunks, index)) {
    for (const entry of listener.listensTo) {
      for (const [state, reference] of index.entryOf(entry)) {
        const sources = index.find(state, reference);
        if (sources.length === 0) noteMissing(errors, state, reference);
        for (const source of sources) {
          const result = running[tagOf(source)];
          if (!result || !isChanged(result)) continue;
          const targets = index.find(listener.state, listener.reference);
          if (targets.length === 0) noteMissing(errors, listener.state, listener.reference);
          for (const target of targets) found.push(watchCall(target));
        }
      }
    }
  }
  return { chunks: found, errors };
}

function collect(chunks: readonly Chunk[], index: ReferenceIndex): Listener[] {
  const listeners: Listener[] = [];
  for (const chunk of chunks) {
    const { state = null, __id__: id = null } = chunk;
    const { listen, listen_in: listenIn } = chunk;
    if (Array.isArray(listen)) listeners.push({ state, reference: id, listensTo: listen });
    for (const entry of asList(listenIn) ?? []) {
      for (const [toState, reference] of index.entryOf(entry)) {
        listeners.push({ state: toState, reference, listensTo: [newDict([[pyStr(state), id]])] });
      }
    }
  }
  return listeners;
}

/** Finds chunks by state and any of id, name and state, as Salt compares them. */
class ReferenceIndex {
  readonly #places = new Map<Value, Map<Value, Chunk[]>>();
  readonly #byName = new Map<Value, Chunk>();

  constructor(chunks: readonly Chunk[]) {
    for (const chunk of chunks) {
      const { state = null, __id__: id = null, name = null } = chunk;
      const places = entryOf(this.#places, state, () => new Map<Value, Chunk[]>());
      for (const key of new Set([state, id, name])) {
        const list = places.get(key);
        if (list) list.push(chunk);
        else places.set(key, [chunk]);
        if (key !== state && !this.#byName.has(key)) this.#byName.set(key, chunk);
      }
      if (!this.#byName.has(id)) this.#byName.set(id, chunk);
      if (!this.#byName.has(name)) this.#byName.set(name, chunk);
    }
  }

  find(state: Value, reference: Value): readonly Chunk[] {
    return this.#places.get(state)?.get(reference) ?? [];
  }

  /** `{state: reference}` unchanged; a bare text is an id or a name. One without a target is skipped. */
  entryOf(entry: Value): [Value, Value][] {
    if (isDict(entry)) return dictEntries(entry);
    const chunk = this.#byName.get(entry);
    return chunk ? [[chunk['state'] ?? null, chunk['__id__'] ?? null]] : [];
  }
}

function watchCall(chunk: Chunk): Chunk {
  const low = afterCall(chunk, 'mod_watch', 'listener');
  for (const name of requisites) delete low[name];
  return low;
}

function afterCall(chunk: Chunk, fun: string, prefix: string): Chunk {
  const low = newDict(Object.entries(chunk));
  low['sfun'] = chunk['fun'] ?? null;
  low['fun'] = fun;
  low['__id__'] = `${prefix}_${pyStr(chunk['__id__'])}`;
  return low;
}

function noteMissing(errors: Record<string, PlainDict>, state: Value, reference: Value): void {
  const [key, value] = [pyStr(state), shown(reference)];
  errors[`Listen_Error_|-listen_${value}_|-listen_${key}_|-Listen_Error`] = newDict([
    ['comment', `Referenced state ${key}: ${value} does not exist`],
    ['name', `listen_${key}:${value}`],
    ['result', false],
    ['changes', newDict()],
  ]);
}

/** `beacon: True`: the module's `mod_beacon`, after its state. */
export function beaconCalls(chunks: readonly Chunk[]): Chunk[] {
  return chunks.filter((chunk) => 'beacon' in chunk).map((chunk) => afterCall(chunk, 'mod_beacon', 'beacon'));
}
