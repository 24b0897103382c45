// Attributes of files on ext filesystems (`lsattr`, `chattr`).
import { newDict, onlyReads, type PlainDict, type StateContext } from 'halite/sdk';
import { which } from 'halite/sdk/system';

const letters = 'aAcCdDeijPsStTu';

/** The attributes of a file, or undefined when they cannot be read. */
async function attributesOf(path: string, ctx: StateContext): Promise<string | undefined> {
  const program = which('lsattr');
  if (!program) return undefined;
  const out = await onlyReads(() => ctx.exec(program, ['-d', '--', path]));
  if (out.retcode !== 0) return undefined;
  const field = out.stdout.split(/\s+/, 1)[0] ?? '';
  return [...field].filter((letter) => letters.includes(letter)).join('');
}

export interface AttributeChange {
  readonly old: string;
  readonly wanted: string;
  readonly added: string;
  readonly removed: string;
}

/** The difference between attributes and the desired ones; `e` is set by the filesystem and ignored. */
export async function attributeChange(
  path: string,
  wanted: string,
  ctx: StateContext,
): Promise<AttributeChange | undefined> {
  const old = await attributesOf(path, ctx);
  if (old === undefined) return undefined;
  const target = new Set(wanted + (old.includes('e') ? 'e' : ''));
  const added = [...target].filter((letter) => !old.includes(letter)).join('');
  const removed = [...old].filter((letter) => !target.has(letter)).join('');
  return added || removed ? { old, wanted, added, removed } : undefined;
}

export async function setAttributes(
  path: string,
  wanted: string,
  ctx: StateContext,
): Promise<{ change?: PlainDict; problem?: string } | undefined> {
  const needed = await attributeChange(path, wanted, ctx);
  const program = which('chattr');
  if (!needed || !program) return undefined;
  if (needed.added) await ctx.exec(program, [`+${needed.added}`, path]);
  if (needed.removed) await ctx.exec(program, [`-${needed.removed}`, path]);
  const left = await attributeChange(path, wanted, ctx);
  const now = left ? left.old : wanted;
  return {
    ...(now !== needed.old && {
      change: newDict([
        ['old', needed.old],
        ['new', now],
      ]),
    }),
    ...(left && { problem: `Failed to change attributes to ${wanted}` }),
  };
}
