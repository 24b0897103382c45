// State module `archive`: archives unpacked into folders.
import { lchownSync, rmSync } from 'node:fs';
import {
  type ArgsOf,
  defineState,
  newDict,
  type PlainDict,
  p,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { pyStr } from '../../../base/codec/python/index.ts';
import { formatOf } from '../../modules/archive/list.ts';
import { gidOf, uidOf } from '../../modules/file/ownership.ts';
import { expandUser, joinPath } from '../../modules/support/paths.ts';
import { whichFirst } from '../../modules/support/which.ts';
import { failureText } from '../file/errors.ts';
import { exists, isDir, isRegular, lookAtLink } from '../file/facts.ts';
import { type HashSum, hashOfFile, sourceSum } from '../file/hash-sums.ts';
import { relativeTo } from '../file/keep.ts';
import * as common from '../file/params.ts';
import { chooseSource } from '../file/source.ts';
import { failureOf, isExpected, plain } from '../support/calls.ts';
import { localProtocols, splitUrl, withoutPassword } from '../support/sources.ts';
import { type Compared, type Contents, compare, listed, removePaths } from './compare.ts';
import { type Extracted, extract } from './extract.ts';
import { readSum, writeSum } from './sums.ts';

const params = {
  name: p.path({ doc: 'folder to unpack into' }),
  source: p.any({ doc: 'the archive, or a list of which the first that exists is taken' }),
  source_hash: p.any({ default: null, doc: 'hash the archive must have' }),
  source_hash_name: common.sourceHashName,
  source_hash_update: p.bool({ default: false, doc: 'unpack again when the hash changed' }),
  skip_files_list_verify: p.bool({ default: false, doc: 'only compare the hash, not the files' }),
  skip_verify: common.skipVerify,
  password: p.any({ default: null, doc: 'password of a ZIP file' }),
  options: p.any({ default: null, doc: 'options for tar or unzip' }),
  list_options: p.any({ default: null, doc: 'program that decompresses a tar archive' }),
  force: p.bool({ default: false, doc: 'remove files where folders should be, and the other way round' }),
  overwrite: p.bool({ default: false, doc: 'unpack in any case' }),
  clean: p.bool({ default: false, doc: 'remove what the archive holds before unpacking' }),
  clean_parent: p.bool({ default: false, doc: 'remove the whole folder before unpacking' }),
  user: common.user,
  group: common.group,
  if_missing: p.any({ default: null, doc: 'unpack only when this path is missing' }),
  trim_output: p.any({ default: false, doc: 'true for 100, or how many names to show' }),
  use_cmd_unzip: p.any({ default: null, doc: 'use the program unzip' }),
  extract_perms: p.bool({ default: true, doc: 'take over modes of a ZIP file' }),
  enforce_toplevel: p.bool({ default: true, doc: 'the archive must have one folder at its top' }),
  enforce_ownership_on: p.any({ default: null, doc: 'path that owner and group are set on' }),
  archive_format: p.any({ default: null, doc: 'tar, zip or rar; by the name when left out' }),
  use_etag: common.useEtag,
  kwargs: p.kwargs({ doc: 'keep_source, and options for the unpacking function' }),
};
type Args = ArgsOf<typeof params>;

/** What is being done, as it becomes known. */
interface Work {
  readonly args: Args;
  /** The folder, with a slash at its end. */
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

/** What is wrong with the arguments that name paths and accounts; a result when the matter is settled. */
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

/** What is wrong with options for this kind of archive. */
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

async function understand(args: Args, ctx: StateContext): Promise<Work | StateResult> {
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

/** The archive on this machine; a result when it cannot be had or need not be. */
async function fetch(work: Work, ctx: StateContext): Promise<{ path: string } | StateResult> {
  const { args, source, sum } = work;
  const shown = withoutPassword(source);
  if (args.skip_files_list_verify && sum) {
    const known = work.local
      ? source
      : (await ctx.files.isCached(source, ctx.saltenv)) || ctx.files.cacheDest(source, ctx.saltenv);
    const before = readSum(known, ctx);
    if (before && before.digits === sum.digits) {
      const about =
        'existing source sum is the same as the expected one and skip_files_list_verify argument was set to True.';
      return ctx.result({
        result: ctx.test ? null : true,
        comment: `Archive ${shown} ${about} Extraction is not needed`,
      });
    }
  }
  if (work.local) return { path: source };
  if (ctx.test)
    return ctx.result({
      result: null,
      comment: `Archive ${shown} would be cached (if necessary) and checked to discover if extraction is needed`,
    });
  const { source_hash: _, source_hash_name, skip_verify, use_etag } = args;
  const done = await ctx.state('file.cached', {
    name: source,
    source_hash: work.hash ?? '',
    source_hash_name,
    skip_verify,
    saltenv: ctx.saltenv,
    use_etag,
  });
  return done.result ? { path: await ctx.files.isCached(source, ctx.saltenv) } : done;
}

/** What the archive holds; text when that cannot be told. */
async function contentsOf(work: Work, path: string, ctx: StateContext): Promise<Contents | string> {
  const { args, format, options } = work;
  const strip =
    format === 'tar' ? /--strip(?:-components)?(?:\s+|=)["']?(\d+)["']?/.exec(options ?? '')?.[1] : undefined;
  try {
    if (format === 'zip' && !args.password && (await ctx.callWith('archive.is_encrypted', [path], { clean: false }))) {
      return `Archive ${withoutPassword(work.source)} is password-protected, but no password was specified. Please set the 'password' argument.`;
    }
    const order = {
      archive_format: format,
      options: args.list_options,
      strip_components: strip === undefined ? null : Number(strip),
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

/** Deals with files where folders should be. A result when that ends the matter; else whether something was removed. */
function resolveWrong(work: Work, compared: Compared, changes: PlainDict, ctx: StateContext): StateResult | boolean {
  const { args, name } = work;
  if (compared.wrong.length === 0) return false;
  const paths = `\n\n${compared.wrong.map((path) => `- ${path}`).join('\n')}`;
  const about = `The below paths (relative to ${name}) exist, but are the incorrect type (file instead of directory, symlink instead of file, etc.).`;
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

/** Why it is unpacked, when that is not plain. */
const reason = (hashChanged: boolean, missing: boolean): string =>
  hashChanged ? ', due to source_hash update' : missing ? ', due to absence of one or more files/dirs' : '';

/** Cleans and unpacks. A result when it failed. */
async function unpack(
  work: Work,
  path: string,
  contents: Contents,
  changes: PlainDict,
  ctx: StateContext,
): Promise<{ files: Value[] | string; made: boolean } | StateResult> {
  const { args, name } = work;
  if (args.clean_parent && exists(name)) {
    try {
      rmSync(name.replace(/\/+$/, ''), { recursive: true });
      changes['removed'] = `Directory ${name} was removed prior to the extraction`;
    } catch (error) {
      return ctx.fail(
        listed(`Unable to remove the directory ${name}. The following errors were observed:`, [failureText(error)]),
        { changes },
      );
    }
  }
  if (args.clean) {
    const errors = removePaths(
      [...contents.top_level_dirs, ...contents.top_level_files].map((item) => joinPath(name, item)),
      changes,
    );
    if (errors.length > 0)
      return ctx.fail(listed('One or more paths could not be cleaned. The following errors were observed:', errors), {
        changes,
      });
  }
  const made = !isDir(name);
  if (made) await ctx.state('file.directory', { name, user: args.user, makedirs: true });
  const { keep_source: _source, keep: _keep, ...kwargs } = args.kwargs;
  const done: Extracted = await extract(
    {
      format: work.format,
      path,
      target: name,
      options: work.options,
      listOptions: args.list_options === null ? null : pyStr(args.list_options),
      trim: work.trim,
      password: args.password,
      useUnzip: work.useUnzip,
      perms: args.extract_perms,
      madeTarget: made,
      kwargs: newDict(Object.entries(kwargs)),
    },
    ctx,
  );
  if ('problem' in done) return ctx.fail(done.problem, { changes });
  if ('failed' in done) return ctx.fail('', { changes: done.failed });
  return { files: done.files, made };
}

interface Owned {
  readonly missing: string[];
  readonly failed: string[];
}

/** Owner and group of what was unpacked. */
async function enforceOwner(work: Work, contents: Contents, changes: PlainDict, ctx: StateContext): Promise<Owned> {
  const { args, name } = work;
  const [missing, failed]: [string[], string[]] = [[], []];
  if (!args.user && !args.group) return { missing, failed };
  const only = args.enforce_ownership_on === null ? undefined : pyStr(args.enforce_ownership_on);
  const dirs = only === undefined ? contents.top_level_dirs : isDir(only) ? [only] : [];
  const files =
    only === undefined ? [...contents.top_level_files, ...contents.top_level_links] : isDir(only) ? [] : [only];
  const recurse = [...(args.user ? ['user'] : []), ...(args.group ? ['group'] : [])];
  for (const dir of dirs) {
    const path = joinPath(name, dir);
    if (!isDir(path)) {
      if (!ctx.test) missing.push(path);
      continue;
    }
    const done = await ctx.state('file.directory', { name: path, user: args.user, group: args.group, recurse });
    if (Object.keys(plain(done.changes)).length > 0) changes['updated ownership'] = true;
    if (done.result === false) failed.push(path);
  }
  const [uid, gid] = [args.user ? uidOf(args.user) : '', args.group ? gidOf(args.group) : ''];
  for (const file of files) {
    const path = joinPath(name, file);
    const stats = lookAtLink(path);
    if (!stats) {
      if (!ctx.test) missing.push(path);
      if (!ctx.test) failed.push(path);
      continue;
    }
    if ((uid === '' || uid === stats.uid) && (gid === '' || gid === stats.gid)) continue;
    try {
      if (!ctx.test) lchownSync(path, uid === '' ? stats.uid : uid, gid === '' ? stats.gid : gid);
      changes['updated ownership'] = true;
    } catch {
      failed.push(file);
    }
  }
  return { missing, failed };
}

function addOwnerNotes(result: StateResult, owned: Owned, args: Args): void {
  const lead = '\n\nWhile trying to enforce user/group ownership, ';
  if (owned.missing.length > 0) {
    if (!args.if_missing) result.result = false;
    result.comment += listed(`${lead}the following paths were missing:`, owned.missing);
  }
  if (owned.failed.length > 0) {
    result.result = false;
    result.comment += listed(`${lead}Salt was unable to change ownership on the following paths:`, owned.failed);
  }
}

function topProblem({ args, name, format }: Work, contents: Contents): string | undefined {
  if (!args.enforce_toplevel || (contents.top_level_dirs.length <= 1 && contents.top_level_files.length === 0))
    return undefined;
  const example = `setting 'name' to ${joinPath(name, 'some_dir')} instead of ${name}`;
  return `Archive does not have a single top-level directory. To allow this archive to be extracted, set 'enforce_toplevel' to False. To avoid a '${format}-bomb' it may also be advisable to set a top-level directory by adding it to the 'name' value (for example, ${example}).`;
}

async function process(work: Work, path: string, ctx: StateContext): Promise<StateResult> {
  const { args, name, sum } = work;
  const shown = withoutPassword(work.source);
  const before = readSum(path, ctx);
  if (args.source_hash && args.source_hash_update && !args.skip_verify && !ctx.test) writeSum(path, ctx);
  const contents = await contentsOf(work, path, ctx);
  if (typeof contents === 'string') return ctx.fail(contents);
  const top = topProblem(work, contents);
  if (top) return ctx.fail(top);
  if (args.clean && args.clean_parent) return ctx.fail("Only one of 'clean' and 'clean_parent' can be set to True");
  const changes = newDict();
  const compared = compare(name, contents);
  const resolved = resolveWrong(work, compared, changes, ctx);
  if (typeof resolved !== 'boolean') return resolved;
  const hashChanged =
    !args.overwrite &&
    !compared.missing &&
    !resolved &&
    args.source_hash_update &&
    before !== undefined &&
    hashOfFile(path, before.type) !== before.digits;
  const needed = args.overwrite || compared.missing || resolved || hashChanged;
  const why = reason(hashChanged, compared.missing);
  if (needed && work.local && sum && !args.skip_verify && hashOfFile(path, sum.type) !== sum.digits) {
    return ctx.fail(`${shown} does not match the desired source_hash ${sum.digits}`);
  }
  if (needed && ctx.test) {
    const cleaning = args.clean ? ', after cleaning destination path(s)' : '';
    return ctx.result({ result: null, comment: `Archive ${shown} would be extracted to ${name}${cleaning}${why}` });
  }
  const done = needed ? await unpack(work, path, contents, changes, ctx) : undefined;
  if (done && 'result' in done) return done as StateResult;
  const owned = await enforceOwner(work, contents, changes, ctx);
  const result = finish(done as { files: Value[] | string; made: boolean } | undefined, work, changes, why, ctx);
  addOwnerNotes(result, owned, args);
  return result;
}

function finish(
  done: { files: Value[] | string; made: boolean } | undefined,
  work: Work,
  changes: PlainDict,
  why: string,
  ctx: StateContext,
): StateResult {
  const shown = withoutPassword(work.source);
  if (!done) {
    const would = ctx.test && changes['updated ownership'];
    const comment = `All files in archive are already present${would ? '. Ownership would be updated on one or more files/directories.' : ''}`;
    return ctx.result({ result: would ? null : true, comment, changes });
  }
  if (done.files.length === 0) return ctx.fail(`No files were extracted from ${shown}`, { changes });
  if (done.made) changes['directories_created'] = [work.name];
  changes['extracted_files'] = done.files;
  const trim = work.trim === false || work.trim === null ? 'False' : pyStr(work.trim);
  return ctx.ok(`${shown} extracted to ${work.name}${why}. Output was trimmed to ${trim} number of lines`, { changes });
}

const extracted = state({
  doc: 'An archive that is unpacked into a folder.',
  examples: [
    '/opt/app:\n  archive.extracted:\n    - source: https://example.com/app.tar.gz\n    - source_hash: https://example.com/app.tar.gz.sha256',
  ],
  params,
  async run(args, ctx) {
    const work = await understand(args, ctx);
    if (!('warnings' in work) || !('format' in work)) return work as StateResult;
    const ready = work as Work;
    const fetched = await fetch(ready, ctx);
    if (!('path' in fetched) || 'comment' in fetched) return fetched as StateResult;
    const result = await process(ready, fetched.path as string, ctx);
    const keep = args.kwargs['keep_source'] ?? args.kwargs['keep'] ?? true;
    if (!ready.local && !keep) {
      const forgotten = await ctx.state('file.not_cached', { name: ready.source, saltenv: ctx.saltenv });
      if (!forgotten.result) ready.warnings.push(pyStr(forgotten.comment as Value));
    }
    if (ready.warnings.length > 0) result['warnings'] = ready.warnings;
    return result;
  },
});

export default defineState({ name: 'archive', doc: 'Archives unpacked into folders.', functions: { extracted } });
