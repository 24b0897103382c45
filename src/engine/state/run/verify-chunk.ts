// Checks one chunk directly before it runs; an error fails only that state.
import { pyStr } from '../../../base/codec/python/index.ts';
import { isDict, type Value } from '../../../base/codec/value.ts';
import { hasGlob, matchesGlob } from '../../../base/util/index.ts';
import type { FoundFunction } from '../../../extend/loader/index.ts';
import { type Chunk, firstKey, firstValue, shown, typeName } from '../data.ts';
import { stateSignature } from './bind.ts';

/** Salt's words for a function of which nothing is known. */
export const notAvailable = (full: string): string => `'${full}' is not available.`;

/** The source of state functions. */
export interface StateModules {
  find(full: string): Promise<FoundFunction<'states'> | undefined>;
  /** Why one does not exist. */
  missingReason(full: string): string;
}

/** All problems that prevent the chunk from running. Also converts `umask` and `watch` to the form of the runtime. */
export async function verifyChunk(modules: StateModules, low: Chunk): Promise<string[]> {
  const errors = missingParts(low);
  if ('umask' in low) takeUmask(low, errors);
  if (errors.length > 0) return errors;
  const full = `${pyStr(low['state'])}.${pyStr(low['fun'])}`;
  const found = await modules.find(full);
  if (!found) errors.push(...notFound(modules, full, low));
  else {
    for (const name of stateSignature(found.fn.params).required) {
      if (!(name in low)) errors.push(`Missing parameter ${name} for state ${full}`);
    }
  }
  await watchAsRequire(modules, low);
  errors.push(...requiresItself(low));
  return errors;
}

function missingParts(low: Chunk): string[] {
  const errors = ['state', 'fun', 'name'].filter((key) => !(key in low)).map((key) => `Missing "${key}" data`);
  const { name } = low;
  if (name && typeof name !== 'string') {
    const sls = '__sls__' in low ? `in SLS '${pyStr(low['__sls__'])}' ` : '';
    errors.push(`ID '${shown(name)}' ${sls}is not formed as a string, but is a ${typeName(name)}`);
  }
  return errors;
}

function takeUmask(low: Chunk, errors: string[]): void {
  const umask = low['umask'] ?? null;
  delete low['umask'];
  const text = pyStr(umask).replace(/^0o/i, '');
  if (/^[0-7]+$/.test(text)) low['__umask__'] = Number.parseInt(text, 8);
  else errors.push(`Invalid umask: ${shown(umask)}`);
}

function notFound(modules: StateModules, full: string, low: Chunk): string[] {
  const reason = modules.missingReason(full);
  if ('__sls__' in low) return [`State '${full}' was not found in SLS '${pyStr(low['__sls__'])}'`, `Reason: ${reason}`];
  // Salt never says the reason here; it is added only when there is more to say than that the state does not exist.
  const known = reason === notAvailable(full) ? [] : [`Reason: ${reason}`];
  return [`Specified state '${full}' was not found`, ...known];
}

/** For a module that cannot react to changes, `watch` becomes `require`. */
export async function watchAsRequire(modules: StateModules, low: Chunk): Promise<void> {
  if (!('watch' in low) && !('watch_any' in low)) return;
  for (const [watch, require] of [
    ['watch', 'require'],
    ['watch_any', 'require_any'],
  ] as const) {
    if (!(watch in low) || (await modules.find(`${pyStr(low['state'])}.mod_watch`))) continue;
    const watched = low[watch]!;
    delete low[watch];
    const required = low[require];
    if (Array.isArray(required) && Array.isArray(watched)) required.push(...watched);
    else low[require] = watched;
  }
}

function requiresItself(low: Chunk): string[] {
  const list = low['watch'] ?? low['require'];
  if (!Array.isArray(list)) return [];
  const { name, __id__: id } = low;
  const isOwn = (value: Value | undefined): boolean => {
    if (typeof value !== 'string') return false;
    if (!hasGlob(value)) return value === name || value === id;
    return [name, id].some((own) => typeof own === 'string' && matchesGlob(own, value));
  };
  return list
    .filter((entry) => isDict(entry) && firstKey(entry) === low['state'] && isOwn(firstValue(entry)))
    .map(
      (entry) =>
        `Recursive require detected in SLS ${pyStr(low['__sls__'])} for require ${shown(entry)} in ID ${pyStr(id)}`,
    );
}
