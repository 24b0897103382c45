// State module `archive`: unpacks archives into folders.

import {
  defineState,
  newDict,
  type PlainDict,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { joinPath, rmSync } from 'halite/sdk/fs';
import { exists, isDir } from '../../shared/file/facts.ts';
import { hashOfFile } from '../../shared/file/hash-sums.ts';
import { withoutPassword } from '../../shared/file/urls.ts';
import { failureText } from '../file/errors.ts';
import { type Contents, compare, listed, removePaths } from './compare.ts';
import { contentsOf, outsideProblem, resolveWrong } from './contents.ts';
import { type Extracted, extract } from './extract.ts';
import { addOwnerNotes, enforceOwner } from './owner.ts';
import { params, planWork, type Work } from './plan-work.ts';
import { readSum, writeSum } from './sums.ts';

/** The local archive; a final result when it cannot be fetched or is not needed. */
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

/** The reason for unpacking, if it is not obvious. */
const reason = (hashChanged: boolean, missing: boolean): string =>
  hashChanged ? ', due to source_hash update' : missing ? ', due to absence of one or more files/dirs' : '';

/** Cleans and unpacks. Returns a result on failure. */
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
  const outside = await outsideProblem(work, path, ctx);
  if (outside !== undefined) return ctx.fail(outside);
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
  // Under test the state ends here: applied, owners are set afterwards, on what was unpacked.
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
    // Owners are compared in both modes; only the words differ.
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
    const work = await planWork(args, ctx);
    if (!('warnings' in work) || !('format' in work)) return work as StateResult;
    const ready = work as Work;
    const fetched = await fetch(ready, ctx);
    const result =
      !('path' in fetched) || 'comment' in fetched
        ? (fetched as StateResult)
        : await process(ready, fetched.path as string, ctx);
    const keep = args.kwargs['keep_source'] ?? args.kwargs['keep'] ?? true;
    if (!ready.local && !keep && 'path' in fetched) {
      const forgotten = await ctx.state('file.not_cached', { name: ready.source, saltenv: ctx.saltenv });
      if (!forgotten.result) ready.warnings.push(pyStr(forgotten.comment as Value));
    }
    if (ready.warnings.length > 0) result['warnings'] = ready.warnings;
    return result;
  },
});

export default defineState({ name: 'archive', doc: 'Archives unpacked into folders.', functions: { extracted } });
