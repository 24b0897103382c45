// Security contexts of files (`seuser`, `serole`, `setype`, `serange`).
import { dictGet, isDict, newDict, onlyReads, type PlainDict, pyStr, type StateContext, type Value } from 'halite/sdk';
import { which } from 'halite/sdk/system';

const parts = ['user', 'role', 'type', 'range'] as const;
type Part = (typeof parts)[number];
export type Selinux = Partial<Record<Part, string>>;

/** The argument `selinux: {seuser: …}`; undefined when it is empty. */
export function readSelinux(value: Value): Selinux | undefined {
  if (!isDict(value)) return undefined;
  const found: Selinux = {};
  for (const part of parts) {
    const given = dictGet(value, `se${part}`);
    if (given) found[part] = pyStr(given);
  }
  return Object.keys(found).length > 0 ? found : undefined;
}

/** The context of a file in four parts, or undefined when there is none. */
async function contextOf(path: string, ctx: StateContext): Promise<Record<Part, string> | undefined> {
  const program = which('ls');
  const out = program ? await onlyReads(() => ctx.exec(program, ['-dZ', '--', path])) : undefined;
  const match = /^([^\s:]+):([^\s:]+):([^\s:]+):(\S+)\s/.exec(out?.stdout ?? '');
  if (!match) return undefined;
  return { user: match[1]!, role: match[2]!, type: match[3]!, range: match[4]! };
}

const title = (part: Part): string => part.charAt(0).toUpperCase() + part.slice(1);

/** What differs: texts for the report and the parts to set; 'unknown' when the file has no context. */
export async function selinuxChange(path: string, wanted: Selinux, ctx: StateContext) {
  const now = await contextOf(path, ctx);
  if (!now) return 'unknown' as const;
  const wrong = parts.filter((part) => wanted[part] !== undefined && wanted[part] !== now[part]);
  if (wrong.length === 0) return undefined;
  return {
    now,
    wrong,
    old: wrong.map((part) => `${title(part)}: ${now[part]}`).join(' '),
    new: wrong.map((part) => `${title(part)}: ${wanted[part]}`).join(' '),
  };
}

export async function applySelinux(
  path: string,
  wanted: Selinux,
  ctx: StateContext,
): Promise<{ ok: boolean; comments: string[]; change?: PlainDict }> {
  const needed = await selinuxChange(path, wanted, ctx);
  if (needed === 'unknown') return { ok: false, comments: ['Failed to get selinux attributes'] };
  if (!needed) return { ok: true, comments: [] };
  const flags = { user: '-u', role: '-r', type: '-t', range: '-l' } as const;
  const chcon = which('chcon');
  if (chcon) await ctx.exec(chcon, [...needed.wrong.flatMap((part) => [flags[part], wanted[part] ?? '']), '--', path]);
  const after = chcon ? await contextOf(path, ctx) : undefined;
  if (!after) return { ok: false, comments: ['Failed to set selinux attributes'] };
  const failed = needed.wrong.filter((part) => after[part] !== wanted[part]);
  return {
    ok: failed.length === 0,
    comments: [`The file ${path} is set to be changed`, ...failed.map((part) => `Unable to update se${part} context`)],
    change: newDict([
      ['Old', needed.old],
      ['New', needed.new],
    ]),
  };
}
