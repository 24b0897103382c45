// Converts high data to low chunks: one per state and name, with all arguments in one dict.
import { pyStr } from '../../../base/codec/python/index.ts';
import { asList, type Dict, dictEntries, isDict, newDict, type Value } from '../../../base/codec/value.ts';
import { deepCopy } from '../../../base/util/deep-copy.ts';
import { pyEquals } from '../../../base/util/index.ts';
import { type Body, type Chunk, firstKey, firstValue, type High, isBody, isHidden } from '../data.ts';
import { orderChunks } from './order.ts';

/** The chunks of high data, in the order in which they are run. */
export function compileHigh(high: High, orchestrationJid?: Value): Chunk[] {
  const chunks: Chunk[] = [];
  for (const [id, body] of high) {
    if (isHidden(id) || !isBody(body)) continue;
    for (const [state, args] of body) {
      if (!isHidden(state) && Array.isArray(args))
        chunks.push(...chunksOf(id, pyStr(state), args, body, orchestrationJid));
    }
  }
  return orderChunks(chunks);
}

function chunksOf(
  id: Value,
  state: string,
  args: readonly Value[],
  body: Body,
  orchestrationJid: Value | undefined,
): Chunk[] {
  const chunk = newDict([
    ['state', state],
    ['name', id],
  ]);
  if (orchestrationJid !== undefined && orchestrationJid !== null) chunk['__orchestration_jid__'] = orchestrationJid;
  for (const key of ['__sls__', '__env__']) if (body.has(key)) chunk[key] = body.get(key)!;
  chunk['__id__'] = id;
  const functions = new Set<string>();
  const names: Value[] = [];
  const known = new Set<Value>();
  for (const arg of args) {
    if (typeof arg === 'string') functions.add(arg);
    else if (isDict(arg)) takeArguments({ chunk, names, known, id }, arg);
  }
  const lives = names.length > 0 ? names.map((entry, at) => named(chunk, entry, at + 1)) : [deepCopy(chunk)];
  return lives.flatMap((live) =>
    [...functions].map((fun) => {
      live['fun'] = fun;
      return live;
    }),
  );
}

interface Taking {
  readonly chunk: Chunk;
  readonly names: Value[];
  readonly known: Set<Value>;
  readonly id: Value;
}

function takeArguments({ chunk, names, known, id }: Taking, arg: Dict): void {
  for (const [key, value] of dictEntries(arg)) {
    if (key === 'names') {
      for (const name of asList(value) ?? []) {
        if (known.has(name) || (isDict(name) && names.some((other) => pyEquals(other, name)))) continue;
        known.add(name);
        names.push(name);
      }
    } else if (key === 'name' && typeof value !== 'string') chunk['name'] = id;
    // `state` would change which module runs.
    else if (key !== 'state') chunk[pyStr(key)] = value;
  }
}

/** One of several `names`; an entry may have its own arguments. */
function named(chunk: Chunk, entry: Value, order: number): Chunk {
  const live = deepCopy(chunk);
  if (isDict(entry)) {
    live['name'] = firstKey(entry) ?? null;
    const own = firstValue(entry);
    for (const arg of asList(own) ?? []) {
      if (isDict(arg)) for (const [key, value] of dictEntries(arg)) live[pyStr(key)] = deepCopy(value);
    }
  } else live['name'] = entry;
  live['name_order'] = order;
  return live;
}
