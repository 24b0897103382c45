// The folder of users' extensions that a test minion works with.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Value } from '../base/codec/value.ts';
import { HaliteError } from '../base/errors/index.ts';
import { userPlaces } from '../extend/loader/kinds.ts';
import type { Replacements } from './tables.ts';

/** The options that make a loader find `_modules`, `_states`, … of a folder. */
export function extensionFolders(folder: string): Record<string, Value> {
  const places = Object.values(userPlaces).map(({ folder: name, option }) => ({ path: `_${name}`, option }));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new HaliteError('call.arguments', `The folder of extensions ${folder} does not exist`);
  if (!places.some(({ path }) => existsSync(join(folder, path)))) {
    throw new HaliteError('call.arguments', `The folder of extensions ${folder} has none of ${names(places)}`, {
      hint: 'Name the folder in which _modules, _states, … lie, as on the file server.',
    });
  }
  return Object.fromEntries(places.map(({ path, option }) => [option, [join(folder, path)]]));
}

const names = (places: readonly { readonly path: string }[]): string => places.map(({ path }) => path).join(', ');

interface Extended {
  readonly calls?: Replacements;
  readonly extensions?: string;
}

/** Files of users come before everything else: a replacement of a function in one would never be asked. */
export function refuseHiddenReplacements({ calls = {}, extensions }: Extended): void {
  const folder = extensions === undefined ? undefined : join(extensions, '_modules');
  const files = folder && existsSync(folder) ? readdirSync(folder).map((file) => file.replace(/\.[^.]+$/, '')) : [];
  const hidden = Object.keys(calls).filter((fun) => files.includes(fun.slice(0, fun.indexOf('.'))));
  if (hidden.length === 0) return;
  throw new HaliteError(
    'call.arguments',
    `${hidden.join(', ')} cannot be replaced: the module is in ${folder}. Use a folder without this file (for a state: one ` +
      'that has only _states), and name the replaced functions that only read in `reads`.',
  );
}
