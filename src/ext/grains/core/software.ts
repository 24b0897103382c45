// Versions: Halite's own, the Salt it is compatible with, Node, and the system's Python.
import { type GrainContext, newDict, type PlainDict } from 'halite/sdk';
import { isFile } from 'halite/sdk/fs';
import { lines } from 'halite/sdk/text';
import { installation, saltVersion, saltVersionInfo } from '../../shared/software/version.ts';
import { askOnce } from './memo.ts';

export function versionGrains(): PlainDict {
  const { root, version } = installation();
  return newDict([
    ['saltpath', root],
    ['saltversion', saltVersion],
    ['saltversioninfo', [...saltVersionInfo]],
    ['haliteversion', version],
    ['nodeversion', process.versions.node],
    ['nodeexecutable', process.execPath],
  ]);
}

const pythonReport = 'import sys;print(sys.executable);print(*sys.version_info,sep="\\n");print(*sys.path,sep="\\n")';

/**
 * Templates read `pythonversion` to choose between packages such as `python-apt` and `python3-apt`. Halite does not contain
 * Python, so these grains describe the system's `python3`, and are absent where it is not installed.
 */
export async function pythonGrains(ctx: GrainContext): Promise<PlainDict> {
  // PATH is not searched: a user's shims there are slow and describe that user's own Python.
  const python = ['/usr/bin/python3', '/usr/local/bin/python3', '/usr/libexec/platform-python'].find(isFile);
  if (!python) return newDict();
  const { retcode, stdout } = await askOnce(ctx, python, ['-I', '-S', '-c', pythonReport], { timeoutMs: 5000 });
  const [executable = python, major, minor, micro, level = 'final', serial, ...path] = lines(stdout);
  if (retcode !== 0 || major === undefined) return newDict();
  return newDict([
    ['pythonversion', [Number(major), Number(minor), Number(micro), level, Number(serial)]],
    ['pythonpath', path],
    ['pythonexecutable', executable],
  ]);
}
