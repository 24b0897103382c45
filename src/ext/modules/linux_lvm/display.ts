// What `pvdisplay -c`, `vgdisplay -c` and `lvdisplay -c` print.

import { type ModuleContext, newDict, type PlainDict } from 'halite/sdk';
import { realpathSync } from 'halite/sdk/fs';
import { askTool, runTool } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

const fields = {
  pv: [
    'Physical Volume Device',
    'Volume Group Name',
    'Physical Volume Size (kB)',
    'Internal Physical Volume Number',
    'Physical Volume Status',
    'Physical Volume (not) Allocatable',
    'Current Logical Volumes Here',
    'Physical Extent Size (kB)',
    'Total Physical Extents',
    'Free Physical Extents',
    'Allocated Physical Extents',
  ],
  vg: [
    'Volume Group Name',
    'Volume Group Access',
    'Volume Group Status',
    'Internal Volume Group Number',
    'Maximum Logical Volumes',
    'Current Logical Volumes',
    'Open Logical Volumes',
    'Maximum Logical Volume Size',
    'Maximum Physical Volumes',
    'Current Physical Volumes',
    'Actual Physical Volumes',
    'Volume Group Size (kB)',
    'Physical Extent Size (kB)',
    'Total Physical Extents',
    'Allocated Physical Extents',
    'Free Physical Extents',
    'UUID',
  ],
  lv: [
    'Logical Volume Name',
    'Volume Group Name',
    'Logical Volume Access',
    'Logical Volume Status',
    'Internal Logical Volume Number',
    'Open Logical Volumes',
    'Logical Volume Size',
    'Current Logical Extents Associated',
    'Allocated Logical Extents',
    'Allocation Policy',
    'Read Ahead Sectors',
    'Major Device Number',
    'Minor Device Number',
  ],
};

const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

/** Rows with colons between fields, by their first field. */
export function parseDisplay(kind: keyof typeof fields, text: string, real = false): PlainDict {
  const found = newDict();
  for (const line of lines(text)) {
    if (line.includes('is a new physical volume')) continue;
    const values = line.trim().split(':');
    const key = real ? realPath(values[0] ?? '') : (values[0] ?? '');
    const row = newDict(fields[kind].map((name, at) => [name, values[at] ?? '']));
    if (real) row['Real Physical Volume Device'] = key;
    found[key] = row;
  }
  return found;
}

/** Volumes of a kind: one, or all; empty when the tool fails, which counts as failure unless `quiet`. */
export async function display(
  kind: keyof typeof fields,
  name: string,
  options: { quiet?: boolean; real?: boolean },
  ctx: ModuleContext,
): Promise<PlainDict> {
  const args = ['-c', ...(name ? [name] : [])];
  const { retcode, stdout } = await (options.quiet ? askTool : runTool)(ctx, `${kind}display`, args);
  return retcode === 0 ? parseDisplay(kind, stdout, options.real) : newDict();
}
