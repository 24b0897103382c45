// The variables with the path of a template: `tplfile`, `tpldir`, `slspath` and others.
import { newDict, type PlainDict } from '../../base/codec/value.ts';

/**
 * `path` is the file on this machine, `sls` its name in the tree ('' for templates that are no SLS).
 * Without a path there are only the names that come from the SLS itself.
 */
export function slsNames(path: string | undefined, sls: string): PlainDict {
  const names = newDict();
  let folder = sls.replaceAll('.', '/');
  if (path) {
    const file = templateFile(path, sls, folder);
    folder = file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '';
    names['tplpath'] = path;
    names['tplfile'] = file;
    names['tpldir'] = folder || '.';
    names['tpldot'] = folder.replaceAll('/', '.');
  }
  names['slspath'] = folder;
  names['slsdotpath'] = folder.replaceAll('/', '.');
  names['slscolonpath'] = folder.replaceAll('/', ':');
  names['sls_path'] = folder.replaceAll('/', '_');
  return names;
}

/** The path below the root of the tree; Salt gives the whole path when the two do not fit together. */
function templateFile(path: string, sls: string, folder: string): string {
  if (!sls) return path.slice(path.lastIndexOf('/') + 1);
  for (const name of [`${folder}.sls`, `${folder}/init.sls`]) if (path.endsWith(name)) return name;
  return path;
}
