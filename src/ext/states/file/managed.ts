// `file.managed`: a file with the content of a source, of the state itself, or of the pillar.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ArgsOf,
  isDict,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
  withForecast,
} from 'halite/sdk';
import { expandUser, mkdtempSync, normalizeMode, rmSync, writeFileSync } from 'halite/sdk/fs';
import { bytesOf, type Content } from '../../shared/file/content.ts';
import { accountProblem, exists, isDir, isRegular, ownerArgument } from '../../shared/file/facts.ts';
import { hashOfFile, sourceSum } from '../../shared/file/hash-sums.ts';
import { changesNeeded, type ManageRequest, manageFile } from '../../shared/file/manage.ts';
import { permsNeeded, setPerms } from '../../shared/file/perms.ts';
import { readSelinux } from '../../shared/file/selinux.ts';
import {
  cachedCopy,
  chooseSource,
  type Fetched,
  fetchSource,
  modeOfSource,
  type SourceRequest,
} from '../../shared/file/source.ts';
import { schemeOf } from '../../shared/file/urls.ts';
import { loadAccumulators } from './accumulators.ts';
import { checkFailure } from './check-command.ts';
import { contentsOf, isDictOrNothing } from './contents.ts';
import { failureText } from './errors.ts';
import * as common from './params.ts';

const params = {
  name: common.name,
  source: p.oneOf(['string', 'list', 'dict'], {
    default: null,
    doc: 'source of the content: `salt://…`, a path, a URL, or a list of which the first existing one is used',
  }),
  source_hash: common.sourceHash,
  source_hash_name: common.sourceHashName,
  keep_source: p.bool({ default: true, doc: 'keep the fetched source in the minion cache' }),
  user: common.user,
  group: common.group,
  mode: p.scalar({ default: null, doc: 'permission bits, or `keep` for those of the source' }),
  attrs: p.scalar({ default: null, doc: 'attributes of chattr' }),
  template: common.template,
  makedirs: common.makedirs,
  dir_mode: p.scalar({ default: null, doc: 'permission bits of new folders' }),
  context: common.context,
  replace: p.bool({ default: true, doc: 'false: keep the content of an existing file' }),
  defaults: common.defaults,
  backup: common.backup,
  show_changes: common.showChanges,
  create: p.bool({ default: true, doc: 'false: only manage a file that exists' }),
  contents: p.any({ default: null, doc: 'the content itself: text or a list of lines' }),
  tmp_dir: p.scalar({ default: '', nullable: true, doc: 'folder for the file given to `check_cmd`' }),
  tmp_ext: p.scalar({ default: '', nullable: true, doc: 'end of the name of the file given to `check_cmd`' }),
  contents_pillar: p.oneOf(['string', 'list'], {
    default: null,
    doc: 'pillar key of the content, or several',
  }),
  contents_grains: p.oneOf(['string', 'list'], { default: null, doc: 'grain with the content, or several' }),
  contents_newline: p.bool({ default: true, doc: 'end the content with a line end' }),
  contents_delimiter: p.string({ default: ':', doc: 'separator of the levels of such keys' }),
  encoding: p.scalar({ default: null, doc: 'encoding of the file, UTF-8 unless given' }),
  encoding_errors: p.string({ default: 'strict', doc: 'what to do with characters it does not have' }),
  allow_empty: p.bool({ default: true, doc: 'whether `contents` may be empty' }),
  follow_symlinks: p.bool({ default: true, doc: 'follow links' }),
  check_cmd: p.scalar({
    default: null,
    doc: 'command that must accept the new file before it is written; gets its path as last argument',
  }),
  skip_verify: common.skipVerify,
  selinux: p.oneOf(['dict', 'list', 'string'], {
    default: null,
    doc: 'security context: seuser, serole, setype, serange',
  }),
  ...common.windowsParams,
  verify_ssl: common.verifySsl,
  use_etag: common.useEtag,
  kwargs: common.kwargs,
};
type Args = ArgsOf<typeof params>;

/** The request built from the state's arguments. */
interface Work {
  readonly args: Args;
  readonly name: string;
  readonly user: Value;
  readonly mode: string | null;
  readonly keepMode: boolean;
  readonly template: string | null;
  /** Content given in the state itself. */
  readonly own: Content | undefined;
  readonly replace: boolean;
}

const givenContents = (args: Args): number =>
  [args.contents, args.contents_pillar, args.contents_grains].filter((value) => value !== null).length;

function contradiction(args: Args, keepMode: boolean): string | undefined {
  const given = givenContents(args);
  const three = "'contents', 'contents_pillar', or 'contents_grains'";
  if (args.source && given > 0) return `'source' cannot be used in combination with ${three}`;
  if (keepMode && given > 0) return `Mode preservation cannot be used in combination with ${three}`;
  if (given > 1) return "Only one of 'contents', 'contents_pillar', and 'contents_grains' is permitted";
  return undefined;
}

/** An error about the target. */
function targetProblem(work: Work, ctx: StateContext): string | undefined {
  const { name, args } = work;
  const account = accountProblem(work.user, args.group, ctx);
  if (account) return account;
  if (!name.startsWith('/')) return `Specified file ${name} is not an absolute path`;
  if (isDir(name)) return `Specified target ${name} is a directory`;
  if (args.context !== null && !isDict(args.context)) return 'Context must be formed as a dict';
  return isDictOrNothing(args.defaults) ? undefined : 'Defaults must be formed as a dict';
}

const permsOf = ({ args, user, mode }: Work) => ({
  user,
  group: args.group,
  mode,
  attrs: args.attrs,
  follow: args.follow_symlinks,
  selinux: readSelinux(args.selinux),
});

/** The content of an existing file is unchanged; owner and mode are set. */
async function permsOnly(work: Work, warnings: PlainDict, ctx: StateContext): Promise<StateResult> {
  const { name } = work;
  const foreseen = async (): Promise<StateResult> => {
    const changes = await permsNeeded(name, permsOf(work), ctx);
    const old = changes['mode'] === undefined ? undefined : await modeOfSource(name, ctx);
    const comment = old
      ? `File ${name} will be updated with permissions ${work.mode} from its current state of ${old}`
      : `File ${name} not updated`;
    const result = Object.keys(changes).length > 0 ? null : true;
    return ctx.result({ ...warnings, name, changes, result, comment });
  };
  return withForecast(ctx, foreseen, async () => {
    const done = await setPerms(name, permsOf(work), ctx);
    const right = Object.keys(done.changes).length === 0 && done.ok;
    const comment = right ? `File ${name} exists with proper permissions. No changes made.` : done.problems.join('; ');
    return ctx.result({ ...warnings, name, changes: done.changes, result: done.ok, comment });
  });
}

/** A remote source that must have a known hash. */
const needsFetching = (source: string, hash: Value): boolean =>
  Boolean(hash) && !['salt', 'file'].includes(schemeOf(source)) && !source.startsWith('/');

/** A remote source is not fetched if the file already has its hash. */
async function hasSourceHash(work: Work, ctx: StateContext): Promise<boolean> {
  const { args, name } = work;
  if (work.own || work.template || !args.source || args.skip_verify || !work.replace) return false;
  if (typeof args.source === 'string' && !needsFetching(args.source, args.source_hash)) return false;
  if (!exists(name)) return false;
  try {
    const { source, hash } = await chooseSource(args.source, args.source_hash, ctx);
    if (!needsFetching(source, hash)) return false;
    const request = {
      fileName: name,
      source,
      sourceHash: hash,
      hashName: args.source_hash_name,
      saltenv: ctx.saltenv,
      verifySsl: args.verify_ssl,
    };
    const sum = await sourceSum(request, ctx);
    return hashOfFile(name, sum.type) === sum.digits;
  } catch (error) {
    ctx.log.error(`Failed checking existing file's hash against specified source_hash: ${failureText(error)}`);
    return false;
  }
}

function sourceRequest(work: Work, source: string, hash: Value, ctx: StateContext): SourceRequest {
  const { args, name } = work;
  return {
    name,
    source,
    hash,
    hashName: args.source_hash_name,
    template: work.template,
    context: work.template === null ? null : templateContext(work, ctx),
    defaults: args.defaults,
    skipVerify: args.skip_verify,
    verifySsl: args.verify_ssl,
    useEtag: args.use_etag,
    extra: work.template === null ? noExtra : templateExtra(work),
  };
}

const noExtra = newDict();

function templateContext({ args, name }: Work, ctx: StateContext): PlainDict {
  const context = newDict(isDict(args.context) ? Object.entries(args.context) : []);
  const collected = loadAccumulators(ctx).texts[name];
  if (collected !== undefined) context['accumulator'] = collected;
  return context;
}

const templateExtra = ({ args, name, user, mode }: Work): PlainDict =>
  newDict([
    ...Object.entries(args.kwargs),
    ['name', name],
    ['user', user],
    ['group', args.group],
    ['mode', mode],
    ['attrs', args.attrs],
  ]);

/** The local copy of a plain source; fetched only if the target has another hash. */
async function plainContent(
  request: SourceRequest,
  fetched: Exclude<Fetched, { problem: string }>,
  work: Work,
  ctx: StateContext,
): Promise<{ content: Content } | { problem: string }> {
  const { sum } = fetched;
  if (fetched.content) {
    if (sum && 'path' in fetched.content && schemeOf(request.source) !== 'salt' && !request.skipVerify) {
      const found = hashOfFile(fetched.content.path, sum.type);
      if (found !== sum.digits) return { problem: mismatch(request, sum, found, exists(work.name)) };
    }
    return { content: fetched.content };
  }
  if (sum && isRegular(work.name) && hashOfFile(work.name, sum.type) === sum.digits)
    return { content: { path: work.name } };
  const content = await cachedCopy(request, sum, ctx);
  return content.path ? { content } : { problem: `Source file '${request.source}' not found` };
}

function mismatch(
  request: SourceRequest,
  sum: { type: string; digits: string },
  found: string,
  there: boolean,
): string {
  const text = `Specified ${sum.type} checksum for ${there ? request.source : request.name} (${sum.digits}) does not match actual checksum (${found})`;
  if (!there) return text;
  return `${text}. If the 'source_hash' value refers to a remote file with multiple possible matches, then it may be necessary to set 'source_hash_name'.`;
}

interface Planned {
  readonly request: ManageRequest;
  readonly cached: string | undefined;
}

/** Content and mode of the new file; a text on failure. */
async function plan(work: Work, ctx: StateContext): Promise<Planned | { problem: string; bare?: boolean }> {
  const { args } = work;
  let content = work.own;
  let mode = work.mode;
  let cached: string | undefined;
  const { source, hash } = await chooseSource(args.source, args.source_hash, ctx);
  if (source && !content) {
    const request = sourceRequest(work, source, hash, ctx);
    const fetched = await fetchSource(request, ctx);
    if ('problem' in fetched) return fetched;
    const found = await plainContent(request, fetched, work, ctx);
    if ('problem' in found) return { ...found, bare: true };
    content = found.content;
    if (!args.keep_source && 'path' in content && content.path !== work.name && schemeOf(source) === 'salt')
      cached = content.path;
    if (work.keepMode) mode = await modeOfSource(source, ctx);
  }
  return { request: manageRequest(work, content, mode, source !== '' && work.own === undefined), cached };
}

function manageRequest(
  { args, name, user }: Work,
  content: Content | undefined,
  mode: string | null,
  fromSource: boolean,
): ManageRequest {
  return {
    name,
    content,
    fromSource,
    user,
    group: args.group,
    mode,
    attrs: args.attrs,
    backup: pyStr(args.backup ?? ''),
    makedirs: args.makedirs,
    dirMode: args.dir_mode,
    follow: args.follow_symlinks,
    showChanges: args.show_changes,
    selinux: readSelinux(args.selinux),
  };
}

/** Runs `check_cmd` on the new file before it is written to its place. */
async function checkContent(work: Work, content: Content, ctx: StateContext): Promise<StateResult | undefined> {
  const { args, name } = work;
  const folder = mkdtempSync(join(args.tmp_dir ? pyStr(args.tmp_dir) : tmpdir(), 'halite-check-'));
  try {
    const path = join(folder, `file${pyStr(args.tmp_ext ?? '')}`);
    writeFileSync(path, bytesOf(content), { mode: 0o600 });
    const problem = await checkFailure(pyStr(args.check_cmd ?? ''), path, ctx);
    return problem === undefined ? undefined : ctx.fail(problem, { name, skip_watch: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function applyPlan(work: Work, planned: Planned, ctx: StateContext): Promise<StateResult> {
  const { request, cached } = planned;
  try {
    if (work.args.check_cmd && request.content && Object.keys(await changesNeeded(request, ctx)).length > 0) {
      const refused = await checkContent(work, request.content, ctx);
      if (refused) return refused;
    }
    return await manageFile(request, ctx);
  } finally {
    if (cached) rmSync(cached, { force: true });
  }
}

const note = '\nNote: No changes made, actual changes may\nbe different due to other states.';

async function manage(work: Work, ctx: StateContext): Promise<StateResult> {
  const { name } = work;
  try {
    const planned = await plan(work, ctx);
    if ('problem' in planned) {
      // Salt says it in two ways.
      return ctx.fail(ctx.test || planned.bare ? planned.problem : `Unable to manage file: ${planned.problem}`, {
        name,
      });
    }
    const foreseen = async (): Promise<StateResult> => {
      const changes = await changesNeeded(planned.request, ctx);
      if (Object.keys(changes).length === 0) return ctx.ok(`The file ${name} is in the correct state`, { name });
      return ctx.result({ name, changes, result: null, comment: `The file ${name} is set to be changed${note}` });
    };
    return await withForecast(ctx, foreseen, () => applyPlan(work, planned, ctx));
  } catch (error) {
    return ctx.fail(`Unable to manage file: ${failureText(error)}`, { name });
  }
}

async function planWork(args: Args, ctx: StateContext): Promise<Work | StateResult> {
  const name = expandUser(args.name);
  const fail = (problem: string): StateResult => ctx.fail(problem, { name });
  if (!name) return fail('Destination file name is required');
  const keepMode = typeof args.mode === 'string' && args.mode.toLowerCase() === 'keep';
  const wrong = contradiction(args, keepMode);
  if (wrong) return fail(wrong);
  const own = await contentsOf(args, ctx);
  if (own && 'problem' in own) return fail(own.problem);
  if (!args.create && !isRegular(name))
    return ctx.ok(`File ${name} is not present and is not set for creation`, { name });
  const work: Work = {
    args,
    name,
    user: ownerArgument(args.user, args.kwargs, ctx),
    mode: keepMode ? null : normalizeMode(args.mode),
    keepMode,
    template: args.template ? pyStr(args.template) : null,
    own,
    replace: args.replace && Boolean(args.source || givenContents(args) > 0),
  };
  const problem = targetProblem(work, ctx);
  return problem ? fail(problem) : work;
}

export async function runManaged(args: Args, ctx: StateContext): Promise<StateResult> {
  const work = await planWork(args, ctx);
  if ('comment' in work) return work;
  const warnings = newDict();
  if (args.kwargs['file_mode'] !== undefined) {
    warnings['warnings'] = [
      "The 'file_mode' argument will be ignored.  Please use 'mode' instead to set file permissions.",
    ];
  }
  const keepContent = !work.replace || (await hasSourceHash(work, ctx));
  const done = keepContent && exists(work.name) ? await permsOnly(work, warnings, ctx) : await manage(work, ctx);
  return Object.assign(done, warnings);
}

export const managed = state({
  doc: 'A file with the given content, owner and mode.',
  examples: ["/etc/motd:\n  file.managed:\n    - source: salt://motd\n    - mode: '0644'"],
  params,
  run: runManaged,
});
