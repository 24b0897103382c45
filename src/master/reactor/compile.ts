// The calls that a rendered reaction file requests, in order.
import { isDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { type Chunk, type High, isBody, toHigh } from '../../engine/state/data.ts';
import { verifyHigh } from '../../engine/state/high/verify.ts';
import { compileHigh } from '../../engine/state/low/compile.ts';

/** As in Salt: `cmd` is the old name of `local`. */
const aliases: Readonly<Record<string, string>> = { cmd: 'local' };

/** Ids of one file; those of a later file replace those of an earlier one. */
export function declarations(rendered: Value, file: string): High {
  if (rendered === null || rendered === '') return new Map();
  if (!isDict(rendered)) throw new HaliteError('render.failed', `${file} does not render to a map of reactions`);
  const high = toHigh(rendered);
  for (const [id, body] of high) {
    if (typeof body === 'string' && body.includes('.')) high.set(id, new Map<Value, Value>([split(body, [])]));
    const found = high.get(id);
    if (!isBody(found)) continue;
    moveFunctions(found);
    found.set('__sls__', file);
  }
  return high;
}

/** Everything after the first dot is the function: `local.state.apply` is `local` with `state.apply`. */
function split(name: string, args: readonly Value[]): [string, Value[]] {
  const dot = name.indexOf('.');
  return [name.slice(0, dot), [...args, name.slice(dot + 1)]];
}

function moveFunctions(body: Map<Value, Value>): void {
  const seen = new Set<Value>();
  for (const key of [...body.keys()].sort()) {
    const args = body.get(key);
    if (typeof key !== 'string' || key.startsWith('_') || !Array.isArray(args)) continue;
    if (!key.includes('.')) {
      seen.add(key);
      continue;
    }
    const [kind, moved] = split(key, args);
    if (seen.has(kind)) continue;
    seen.add(kind);
    body.delete(key);
    body.set(kind, moved);
  }
}

/** The calls, sorted as Salt's compiler sorts; throws when the data does not have the form of reactions. */
export function compileReactions(high: High): Chunk[] {
  const errors = verifyHigh(high);
  if (errors.length > 0) throw new HaliteError('render.failed', errors.join('\n'));
  const chunks = compileHigh(high);
  for (const chunk of chunks) chunk['state'] = aliases[String(chunk['state'])] ?? (chunk['state'] as string);
  return chunks;
}
