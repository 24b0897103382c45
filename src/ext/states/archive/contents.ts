// The content of an archive, and existing files that conflict with it.
import { onlyReads, type PlainDict, pyStr, type StateContext, type StateResult } from 'halite/sdk';
import { joinPath } from 'halite/sdk/fs';
import { checkTar, checkZip, stripOf } from '../../shared/archive/check-archive.ts';
import { withoutPassword } from '../../shared/file/urls.ts';
import { failureOf, isExpected } from '../shared/calls.ts';
import { type Compared, type Contents, listed, removePaths } from './compare.ts';
import type { Work } from './plan-work.ts';

/** Why the archive cannot be unpacked there; checked before the destination is changed. */
export async function outsideProblem(work: Work, path: string, ctx: StateContext): Promise<string | undefined> {
  const { args, format, options, name: dest } = work;
  const password = args.password === null ? undefined : pyStr(args.password);
  try {
    if (format === 'zip') checkZip(path, dest, [], password);
    const program = args.list_options === null ? null : pyStr(args.list_options);
    if (format === 'tar') await onlyReads(() => checkTar({ path, dest, options, program }, ctx));
    return undefined;
  } catch (error) {
    if (!isExpected(error)) throw error;
    return failureOf(error).message;
  }
}

/** The content of the archive; a text when it cannot be listed. */
export async function contentsOf(work: Work, path: string, ctx: StateContext): Promise<Contents | string> {
  const { args, format, options } = work;
  const strip = format === 'tar' ? stripOf(options) : 0;
  try {
    if (format === 'zip' && !args.password && (await ctx.callWith('archive.is_encrypted', [path], { clean: false }))) {
      return `Archive ${withoutPassword(work.source)} is password-protected, but no password was specified. Please set the 'password' argument.`;
    }
    const order = {
      archive_format: format,
      options: args.list_options,
      strip_components: strip === 0 ? null : strip,
      clean: false,
      verbose: true,
    };
    return (await ctx.callWith('archive.list', [path], order)) as unknown as Contents;
  } catch (error) {
    if (!isExpected(error)) throw error;
    const advice: string[] = [];
    if (!args.if_missing) advice.push("'if_missing' must be set");
    if (!args.enforce_ownership_on && (args.user || args.group))
      advice.push("Ownership cannot be managed without setting 'enforce_ownership_on'.");
    const text = failureOf(error).message;
    if (advice.length === 0) return text;
    const lead =
      format === 'tar'
        ? "If the source archive is a tar archive compressed using a compression type not natively supported by the tar command, then setting the 'list_options' argument may allow the contents to be listed. Otherwise, if Salt is unable to determine the files/directories in the archive, the following workaround(s) would need to be used for this state to proceed"
        : 'The following workarounds must be used for this state to proceed';
    return `${text}\n\n${lead} (assuming the source file is a valid ${format} archive):\n${advice.map((item) => `\n- ${item}`).join('')}`;
  }
}

/** Handles files where folders should be. Returns a final result, or whether something was removed. */
export function resolveWrong(
  work: Work,
  compared: Compared,
  changes: PlainDict,
  ctx: StateContext,
): StateResult | boolean {
  const { args, name } = work;
  if (compared.wrong.length === 0) return false;
  const paths = `\n\n${compared.wrong.map((path) => `- ${path}`).join('\n')}`;
  const about = `The below paths (relative to ${name}) exist, but are the incorrect type (file instead of directory, symlink instead of file, etc.).`;
  // What is in the way is judged before anything is unpacked; under test Salt has words of its own for each option.
  if (ctx.test && args.clean)
    return ctx.result({
      result: null,
      comment: `${about} Since the 'clean' option is enabled, the destination paths would be cleared and the archive would be extracted.${paths}`,
    });
  if (ctx.test && args.clean_parent) {
    const what =
      "Since the 'clean_parent' option is enabled, the destination parent directory would be removed first and then re-created and the archive would be extracted";
    return ctx.result({ result: null, comment: `${about} ${what}` });
  }
  if (args.clean) return false;
  if (!args.force)
    return ctx.fail(
      `${about} To proceed with extraction, set 'force' to True. Note that this will remove these paths before extracting.${paths}`,
    );
  if (ctx.test) return true;
  const errors = removePaths(
    compared.wrong.map((path) => joinPath(name, path)),
    changes,
  );
  if (errors.length === 0) return true;
  const text =
    'One or more paths existed by were the incorrect type (i.e. file instead of directory or vice-versa), but could not be removed. The following errors were observed:';
  return ctx.fail(listed(text, errors));
}
