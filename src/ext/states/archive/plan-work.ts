// Plans the work of `archive.extracted`: checks its parameters and finds the archive.
import { type ArgsOf, p, pyStr, type StateContext, type StateResult, type Value } from 'halite/sdk';
import { expandUser, joinPath } from 'halite/sdk/fs';
import { whichFirst } from 'halite/sdk/system';
import { formatOf } from '../../shared/archive/list.ts';
import { exists, isRegular } from '../../shared/file/facts.ts';
import { type HashSum, sourceSum } from '../../shared/file/hash-sums.ts';
import { gidOf, uidOf } from '../../shared/file/owner.ts';
import { chooseSource } from '../../shared/file/source.ts';
import { localProtocols, splitUrl } from '../../shared/file/urls.ts';
import { failureText } from '../file/errors.ts';
import { relativeTo } from '../file/keep.ts';
import * as common from '../file/params.ts';

export const params = {
  name: p.path({ doc: 'folder to unpack into' }),
  source: p.oneOf(['string', 'list', 'dict'], {
    doc: 'the archive, or a list of which the first existing one is used',
  }),
  source_hash: p.scalar({ default: null, doc: 'hash the archive must have' }),
  source_hash_name: common.sourceHashName,
  source_hash_update: p.bool({ default: false, doc: 'unpack again when the hash changed' }),
  skip_files_list_verify: p.bool({ default: false, doc: 'only compare the hash, not the files' }),
  skip_verify: common.skipVerify,
  password: p.scalar({ default: null, doc: 'password of a ZIP file' }),
  options: p.scalar({ default: null, doc: 'options for tar or unzip' }),
  list_options: p.scalar({ default: null, doc: 'program that decompresses a tar archive' }),
  force: p.bool({ default: false, doc: 'remove files where folders should be, and vice versa' }),
  overwrite: p.bool({ default: false, doc: 'always unpack' }),
  clean: p.bool({ default: false, doc: 'remove the existing members before unpacking' }),
  clean_parent: p.bool({ default: false, doc: 'remove the whole folder before unpacking' }),
  user: common.user,
  group: common.group,
  if_missing: p.scalar({ default: null, doc: 'unpack only when this path is missing' }),
  trim_output: p.scalar({ default: false, nullable: true, doc: 'true for 100, or how many names to show' }),
  use_cmd_unzip: p.scalar({ default: null, doc: 'use the program unzip' }),
  extract_perms: p.bool({ default: true, doc: 'keep the modes of a ZIP file' }),
  enforce_toplevel: p.bool({ default: true, doc: 'the archive must have one folder at its top' }),
  enforce_ownership_on: p.scalar({ default: null, doc: 'path that owner and group are set on' }),
  archive_format: p.scalar({ default: null, doc: 'tar, zip or rar; by the name when left out' }),
  use_etag: common.useEtag,
  kwargs: p.kwargs({ doc: 'keep_source, and options for the unpacking function' }),
};
export type Args = ArgsOf<typeof params>;

/** The data of one call, collected step by step. */
export interface Work {
  readonly args: Args;
  /** The folder, with a trailing slash. */
  readonly name: string;
  readonly source: string;
  readonly hash: Value;
  readonly format: string;
  readonly local: boolean;
  readonly useUnzip: boolean;
  readonly options: string | null;
  readonly trim: Value;
  readonly sum: HashSum | undefined;
  readonly warnings: string[];
}

const formats = ['tar', 'rar', 'zip'];

/** Checks the arguments that name paths and accounts; returns a result on error. */
function checkPaths(args: Args, ctx: StateContext): StateResult | undefined {
  if (args.skip_files_list_verify && args.skip_verify)
    return ctx.fail('Only one of "skip_files_list_verify" and "skip_verify" can be set to True');
  if (!args.name.startsWith('/')) return ctx.fail(`${args.name} is not an absolute path`);
  const folder = args.name.replace(/\/+$/, '');
  if (isRegular(folder)) return ctx.fail(`${folder} exists and is not a directory`);
  if (args.if_missing !== null && !pyStr(args.if_missing).startsWith('/'))
    return ctx.fail("Value for 'if_missing' is not an absolute path");
  if (args.enforce_ownership_on !== null) {
    const path = pyStr(args.enforce_ownership_on);
    if (!path.startsWith('/')) return ctx.fail("Value for 'enforce_ownership_on' is not an absolute path");
    if (relativeTo(path, folder).startsWith('../'))
      return ctx.fail(`Value for 'enforce_ownership_on' must be within ${folder}/`);
  }
  if (args.if_missing !== null && exists(pyStr(args.if_missing)))
    return ctx.ok(`Path ${pyStr(args.if_missing)} exists`);
  if (args.user && uidOf(args.user) === '') return ctx.fail(`User ${pyStr(args.user)} does not exist`);
  if (args.group && gidOf(args.group) === '') return ctx.fail(`Group ${pyStr(args.group)} does not exist`);
  return undefined;
}

/** An error in the options for this kind of archive. */
function optionProblem(args: Args, format: string, options: string | null): string | undefined {
  if (!formats.includes(format)) {
    return `Invalid archive_format '${format}'. Either set it to a supported value (tar, rar, zip) or remove this argument and the archive format will be guessed based on file extension.`;
  }
  if (format === 'zip' && options && args.use_cmd_unzip !== null && !args.use_cmd_unzip) {
    return "'use_cmd_unzip' cannot be set to False if CLI options are being specified (via the 'options' argument). Either remove 'use_cmd_unzip', or set it to True.";
  }
  if (format !== 'zip' && args.password) return "The 'password' argument is only supported for zip archives";
  if (format === 'rar' && !whichFirst(['unrar', 'rar']))
    return 'archive.unrar function not available, rar/unrar might not be installed on minion';
  if (format === 'rar' && options)
    return "The 'options' argument is only compatible with the following archive formats: tar, zip";
  return undefined;
}

const insecure =
  "Using a password in combination with setting 'use_cmd_unzip' to True is considered insecure. It is recommended to remove the 'use_cmd_unzip' argument (or set it to False) and allow Salt to extract the archive using Python's built-in ZIP file support.";

/** Reads the arguments and finds the archive; returns a result when nothing remains to be done. */
export async function planWork(args: Args, ctx: StateContext): Promise<Work | StateResult> {
  const wrong = checkPaths(args, ctx);
  if (wrong) return wrong;
  let chosen: { source: string; hash: Value };
  try {
    chosen = await chooseSource(args.source, args.source_hash, ctx);
  } catch (error) {
    return ctx.fail(failureText(error));
  }
  if (!chosen.source) return ctx.fail(`Invalid source "${pyStr(args.source)}"`);
  const { scheme, host, path } = splitUrl(chosen.source);
  const base = joinPath(host, path).replace(/\/+$/, '');
  const local = localProtocols.includes(scheme);
  const source = local ? expandUser(base) : chosen.source;
  if (local && !isRegular(source)) return ctx.fail(`Source file '${source}' does not exist`);
  const format = args.archive_format ? pyStr(args.archive_format).toLowerCase() : formatOf(base || host);
  if (!format)
    return ctx.fail(
      "Could not guess archive_format from the value of the 'source' argument. Please set this archive_format to one of the following: tar, rar, zip",
    );
  const options = args.options === null ? null : pyStr(args.options);
  const problem = optionProblem(args, format, options);
  if (problem) return ctx.fail(problem);
  const warnings: string[] = [];
  if ('keep_source' in args.kwargs && 'keep' in args.kwargs)
    warnings.push("Both 'keep_source' and 'keep' were used. Since these both do the same thing, 'keep' was ignored.");
  if (args.source_hash_update && !args.source_hash)
    warnings.push("The 'source_hash_update' argument is ignored when 'source_hash' is not also specified.");
  if (format === 'zip' && args.password && args.use_cmd_unzip) warnings.push(insecure);
  let sum: HashSum | undefined;
  try {
    const request = {
      fileName: '',
      source,
      sourceHash: chosen.hash,
      hashName: args.source_hash_name,
      saltenv: ctx.saltenv,
      verifySsl: true,
    };
    if (args.source_hash) sum = await sourceSum(request, ctx);
  } catch (error) {
    return ctx.fail(failureText(error));
  }
  const useUnzip =
    format === 'zip' &&
    (args.use_cmd_unzip === null ? Boolean(options) && !args.password : Boolean(args.use_cmd_unzip));
  const trim = args.trim_output === true ? 100 : args.trim_output;
  return {
    args,
    name: `${args.name.replace(/\/+$/, '')}/`,
    source,
    hash: chosen.hash,
    format,
    local,
    useUnzip,
    options,
    trim,
    sum,
    warnings,
  };
}
