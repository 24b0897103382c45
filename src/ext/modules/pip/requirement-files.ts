// Requirements files: fetched from the file server to a place that another user can read, with the files they include.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { invocationError, type ModuleContext, pyStr, pythonError, type Value } from 'halite/sdk';
import {
  baseName,
  chownSync,
  copyFileSync,
  dirName,
  isAbsolutePath,
  isFile,
  joinPath,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'halite/sdk/fs';
import { userByName } from 'halite/sdk/system';

export interface RequirementFiles {
  /** `--requirement x --requirement y`. */
  readonly options: readonly string[];
  /** The file that is missing on the file server. */
  readonly missing: string | undefined;
  /** Removes the copies. */
  dispose(): void;
}

/** A file and the files it includes with `-r`. */
function chain(path: string, seen: Set<string>): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  const text = readFileSync(path, 'utf8').replace(/(?:^|\s+)#.*$/gm, '');
  const named = [...text.matchAll(/(?:-r\s|--requirement[=\s])(.*)\n?/g)].map((match) => (match[1] ?? '').trim());
  return [path, ...named.flatMap((file) => chain(joinPath(dirName(path), file), seen))];
}

function copyFor(user: string, path: string, folder: string): string {
  const account = userByName(user);
  if (!account) throw invocationError(`User ${user} does not exist`);
  chownSync(folder, account.uid, account.gid);
  for (const file of chain(path, new Set())) {
    const copy = join(folder, baseName(file));
    if (!isFile(copy)) copyFileSync(file, copy);
    chownSync(copy, account.uid, account.gid);
  }
  return join(folder, baseName(path));
}

/** The arguments of pip for `requirements`: one file, several with commas, or a list. */
export async function requirementFiles(
  requirements: Value,
  at: { readonly cwd: Value; readonly user: Value },
  saltenv: string,
  ctx: ModuleContext,
): Promise<RequirementFiles> {
  if (requirements !== null && typeof requirements !== 'string' && !Array.isArray(requirements))
    throw pythonError('TypeError', 'requirements must be a string or list');
  const wanted =
    typeof requirements === 'string'
      ? requirements.split(',').map((file) => file.trim())
      : (requirements ?? []).map(pyStr);
  let folder: string | undefined;
  const dispose = (): void => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  const options: string[] = [];
  try {
    for (const file of wanted) {
      let path = file;
      if (file.startsWith('salt://')) {
        const cached = await ctx.call('cp.cache_file', file, saltenv);
        if (typeof cached !== 'string' || cached === '') return { options, missing: file, dispose };
        path = cached;
      }
      if (at.user) {
        folder ??= mkdtempSync(join(tmpdir(), 'halite-pip-'));
        const full = isAbsolutePath(path) || at.cwd === null ? path : joinPath(pyStr(at.cwd), path);
        path = copyFor(pyStr(at.user), full, folder);
      }
      options.push('--requirement', path);
    }
  } catch (error) {
    dispose();
    throw error;
  }
  return { options, missing: undefined, dispose };
}
