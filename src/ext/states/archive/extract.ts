// Unpacks an archive into a folder; returns the unpacked names, or why it failed.

import { join } from 'node:path';
import { dictGet, type PlainDict, pyStr, type StateContext, textKeyed, type Value } from 'halite/sdk';
import { chmodSync, lstatSync, rmdirSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines, shellSplit } from 'halite/sdk/text';
import type { Member } from '../../shared/archive/check.ts';
import { keepsModes, stripOf } from '../../shared/archive/check-archive.ts';
import { tarMembers } from '../../shared/archive/list.ts';
import { failureOf, isExpected } from '../shared/calls.ts';

export interface ExtractRequest {
  readonly format: string;
  readonly path: string;
  readonly target: string;
  readonly options: string | null;
  readonly listOptions: string | null;
  readonly trim: Value;
  readonly password: Value;
  readonly useUnzip: boolean;
  readonly perms: boolean;
  /** The target folder was created by this run. */
  readonly madeTarget: boolean;
  readonly kwargs: PlainDict;
}

export type Extracted =
  | { readonly files: Value[] | string }
  | { readonly problem: string }
  | { readonly failed: PlainDict };

const count = (trim: Value): number | undefined => (trim === false || trim === null ? undefined : Number(pyStr(trim)));

/** tar with the options the state names: the first may be a bundle of letters (`xz`). */
function tarCommand(request: ExtractRequest, ctx: StateContext): string[] {
  const given = shellSplit(request.options ?? '').filter((word) => !['v', '-v', '--verbose'].includes(word));
  let letters = 'xv';
  const rest: string[] = [];
  for (const [at, word] of given.entries()) {
    if (word.startsWith('-') || at > 0) rest.push(word);
    else letters += word.replaceAll('x', '').replaceAll('f', '');
  }
  const dash = pyStr(dictGet(ctx.grains, 'os') ?? '').toLowerCase() === 'openbsd' ? '-' : '';
  return ['tar', `${dash}${letters}`, ...rest, '-f', request.path];
}

/** Removes set-user-id and set-group-id bits, which the archive must not set. */
function clearLentRights(request: ExtractRequest, members: readonly Member[]): void {
  if (keepsModes(request.options)) return;
  for (const { name, kind, mode } of members) {
    if (mode === 0 || (kind !== 'file' && kind !== 'hard')) continue;
    const path = join(request.target, ...name.split('/').slice(stripOf(request.options)));
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() && (stat.mode & 0o6000) !== 0) chmodSync(path, stat.mode & 0o1777);
  }
}

async function untar(request: ExtractRequest, ctx: StateContext): Promise<Extracted> {
  const tar = which('tar');
  if (!tar) return { problem: 'tar command not available, it might not be installed on minion' };
  const members = await tarMembers(request.path, request.listOptions, ctx);
  if (request.options !== null) {
    const out = textKeyed(
      await ctx.callWith('cmd.run_all', [tarCommand(request, ctx)], { cwd: request.target, python_shell: false }),
    );
    clearLentRights(request, members ?? []);
    if (out['retcode'] !== 0) return { failed: out };
    const files = lines(pyStr(out['stdout'] ?? '')).slice(0, count(request.trim));
    return { files: files.length > 0 ? files : 'no tar output so far' };
  }
  const program = request.listOptions ? [`--use-compress-program=${request.listOptions}`] : [];
  const done =
    members && (await ctx.exec(tar, [...program, '-xf', request.path, '-C', request.target], { env: { LC_ALL: 'C' } }));
  clearLentRights(request, members ?? []);
  if (members && done?.retcode === 0)
    return { files: members.map((member) => member.name.replace(/\/+$/, '')).slice(0, count(request.trim)) };
  if (request.madeTarget) {
    try {
      rmdirSync(request.target);
    } catch {
      // It contains the files that were unpacked before the failure.
    }
  }
  const advice =
    "the 'options' argument may be required to pass the correct options to the tar command in order to extract the archive.";
  return {
    problem: `Failed to read from tar archive using Python's native tar file support. If archive is compressed using something other than gzip or bzip2, ${advice}`,
  };
}

export async function extract(request: ExtractRequest, ctx: StateContext): Promise<Extracted> {
  const { path, target, trim, password, options, kwargs } = request;
  try {
    if (request.format === 'tar') return await untar(request, ctx);
    if (request.format === 'rar')
      return {
        files: (await ctx.callWith('archive.unrar', [path, target], { ...kwargs, trim_output: trim })) as Value[],
      };
    const order: PlainDict = { ...kwargs, options, trim_output: trim, password };
    const files = request.useUnzip
      ? await ctx.callWith('archive.cmd_unzip', [path, target], order)
      : await ctx.callWith('archive.unzip', [path, target], { ...order, extract_perms: request.perms });
    return { files: files as Value[] };
  } catch (error) {
    if (!isExpected(error)) throw error;
    return { problem: failureOf(error).message };
  }
}
