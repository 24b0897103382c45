// Imports one user extension file in either of the two styles.
import { readFile, stat } from 'node:fs/promises';
import { register } from 'node:module';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { importUrl } from '../../base/util/import-url.ts';
import { stripTypes } from '../../base/util/strip-types.ts';
import { hasFunctions, type Kind } from './kinds.ts';
import { plainAuth } from './plain-auth.ts';
import { plainBeacon } from './plain-beacon.ts';
import { plainModule } from './plain-module.ts';
import { plainEngine, plainGrain, plainOutputter } from './plain-others.ts';
import { plainReturner } from './plain-returner.ts';
import type { UserFile } from './user-folders.ts';

/** The extension object of a user file. Throws extension.broken with a helpful reason. */
export async function importUserFile(kind: Kind, file: UserFile, sdkUrl: string | undefined): Promise<unknown> {
  try {
    const text = await readFile(file.path, 'utf8');
    const typed = file.path.endsWith('.ts');
    const source = typed ? await stripTypes(text) : text;
    if (sdkUrl && source.includes('halite/sdk')) provideSdk(sdkUrl);
    const { mtimeMs } = await stat(file.path);
    // The query makes an edited file a new module; new job processes do the actual reloading.
    const exports = await importUrl(
      typed ? codeUrl(source, file.path) : `${pathToFileURL(file.path).href}?v=${mtimeMs}`,
    );
    const declared = exports['default'];
    if (declared !== null && typeof declared === 'object') return withNameOf(file, declared);
    const plain = readPlain(kind, file.name, exports, source);
    if (plain) return plain;
  } catch (error) {
    throw new HaliteError('extension.broken', `${file.path}: ${firstLine(messageOf(error))}`, { cause: error });
  }
  throw new HaliteError('extension.broken', `${file.path}: has no default export made by a define… function`);
}

/** Extensions are found by the names of their files; one that declares another name would never be found by it. */
function withNameOf(file: UserFile, declared: object): object {
  const { name } = declared as { readonly name?: unknown };
  if (typeof name !== 'string' || name === file.name) return declared;
  throw new HaliteError(
    'extension.broken',
    `its name is ${name}, but the file is called ${basename(file.path)}: make them the same (virtualName gives it another name to be called by)`,
  );
}

/** Files without a default export: exported functions, as in Salt's own extensions. */
function readPlain(kind: Kind, name: string, exports: Record<string, unknown>, source: string): unknown {
  if (hasFunctions(kind)) return plainModule(kind, name, exports, source);
  if (kind === 'grains') return plainGrain(name, exports);
  if (kind === 'beacons') return plainBeacon(name, exports, source);
  if (kind === 'auth') return plainAuth(name, exports, source);
  if (kind === 'returners') return plainReturner(name, exports, source);
  if (kind === 'engines') return plainEngine(name, exports, source);
  return kind === 'outputters' ? plainOutputter(name, exports) : undefined;
}

/** The converted TypeScript is not a file; messages still name the original file. */
function codeUrl(code: string, path: string): string {
  const named = `${code}\n//# sourceURL=${pathToFileURL(path).href}`;
  return `data:text/javascript;charset=utf-8,${encodeURIComponent(named)}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!;
}

let provided = false;

/**
 * Lets user files import `halite/sdk` although they are outside any package.
 * The hook needs a thread, so it starts only when a file needs it, which happens only in job processes.
 */
function provideSdk(sdkUrl: string): void {
  if (provided) return;
  provided = true;
  // Its parts (`halite/sdk/fs`) are files in the folder next to it.
  const hook = `let url;
    export async function initialize(data) { url = data.url; }
    export async function resolve(specifier, context, next) {
      if (specifier === 'halite/sdk') return { url, shortCircuit: true };
      const part = /^halite\\/sdk\\/([a-z]+)$/.exec(specifier)?.[1];
      return part ? { url: new URL('sdk/' + part + '.js', url).href, shortCircuit: true } : next(specifier, context);
    }`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`, { data: { url: sdkUrl } });
}
