// Decryption of single pillar keys (`decrypt_pillar`), after everything is merged.
import { asList, type Dict, dictEntries, dictOf, fieldOf, isDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { applyRenderer, type RenderHost } from '../render/index.ts';
import type { Compilation } from './compilation.ts';

/** The pillar with the configured keys decrypted; a value that fails stays unchanged and is reported as an error. */
export async function decryptPillar(compilation: Compilation, pillar: Dict): Promise<Dict> {
  const { opts, errors, host } = compilation;
  const setting = opts['decrypt_pillar'];
  if (setting === undefined || isEmpty(setting)) return pillar;
  const wanted = isDict(setting) ? dictEntries(setting) : repack(setting);
  if (wanted.length === 0) errors.add('decrypt_pillar config option is malformed');
  const delimiter = String(opts['decrypt_pillar_delimiter'] ?? ':');
  const valid = (asList(opts['decrypt_pillar_renderers']) ?? []).map(String);
  let done = pillar;
  for (const [key, named] of wanted) {
    const path = String(key).split(delimiter);
    const value = valueAt(done, path);
    if (value === undefined || value === null) continue;
    const renderer =
      typeof named === 'string' && named !== '' ? named : String(opts['decrypt_pillar_default'] ?? 'gpg');
    try {
      if (valid.length > 0 && !valid.includes(renderer)) {
        const choices = valid.join(', ');
        throw new HaliteError(
          'call.arguments',
          `'${renderer}' is not a valid decryption renderer. Valid choices are: ${choices}`,
        );
      }
      done = replaced(done, path, await decryptValue(host, value, renderer)) as Dict;
    } catch (error) {
      const text = `Failed to decrypt pillar key '${String(key)}': ${messageOf(error)}`;
      errors.thrown(text, `Failed to decrypt pillar key '${String(key)}'`, error);
    }
  }
  return done;
}

/** A value with the encrypted texts in it decrypted by a renderer. */
export async function decryptValue(host: RenderHost, value: Value, renderer: string): Promise<Value> {
  const done = await applyRenderer(host, renderer, value);
  if (done !== undefined) return done;
  throw new HaliteError('call.arguments', `Decryption renderer '${renderer}' is not available`);
}

/** `[a, {b: gpg}]` as pairs; undefined when an item has another form. */
function repack(list: Value): [Value, Value][] {
  if (!Array.isArray(list)) return [];
  const pairs: [Value, Value][] = [];
  for (const item of list) {
    if (typeof item === 'string' || typeof item === 'number') pairs.push([item, null]);
    else if (isDict(item) && dictEntries(item).length === 1) pairs.push(dictEntries(item)[0]!);
    else return [];
  }
  return pairs;
}

function valueAt(dict: Value, path: readonly string[]): Value | undefined {
  return path.reduce<Value | undefined>((at, key) => fieldOf(at, key), dict);
}

function replaced(value: Value, path: readonly string[], now: Value): Value {
  const [key, ...rest] = path;
  if (key === undefined || !isDict(value)) return now;
  return dictOf(
    dictEntries(value).map(([name, old]): [Value, Value] => [name, name === key ? replaced(old, rest, now) : old]),
  );
}

function isEmpty(value: Value): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isDict(value)) return dictEntries(value).length === 0;
  return !value;
}
