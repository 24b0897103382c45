// Describes a path, for `file.stats`.
import { commandError, newDict, type PlainDict } from 'halite/sdk';
import {
  baseName,
  dirName,
  joinPath,
  lstatOf,
  modeText,
  pySeconds,
  realpathSync,
  statOf,
  typeName,
} from 'halite/sdk/fs';
import { groupById, userById } from 'halite/sdk/system';
import { pyFloat } from 'halite/sdk/text';

/** os.path.realpath: works for paths that do not exist, too. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirName(path);
    return above === path || above === '' ? path : joinPath(realPath(above), baseName(path));
  }
}

/** Everything about a path in one dictionary. */
export function fileStats(path: string, follow: boolean): PlainDict {
  const stats = (follow ? statOf(path) : undefined) ?? lstatOf(path);
  if (!stats) throw commandError(`Path not found: ${path}`);
  const [uid, gid] = [Number(stats.uid), Number(stats.gid)];
  return newDict([
    ['inode', Number(stats.ino)],
    ['uid', uid],
    ['gid', gid],
    ['group', groupById(gid)?.name ?? gid],
    ['user', userById(uid)?.name ?? uid],
    ['atime', pyFloat(pySeconds(stats.atimeNs))],
    ['mtime', pyFloat(pySeconds(stats.mtimeNs))],
    ['ctime', pyFloat(pySeconds(stats.ctimeNs))],
    ['size', Number(stats.size)],
    ['mode', modeText(stats)],
    ['type', typeName(stats)],
    ['target', realPath(path)],
  ]);
}
