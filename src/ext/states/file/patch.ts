// `file.patch`: applies a patch to a file or folder, once.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ArgsOf,
  newDict,
  onlyReads,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
} from 'halite/sdk';
import { dirName, expandUser, mkdtempSync, rmSync, writeFileSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { parseSaltUrl, shellQuote, shellSplit } from 'halite/sdk/text';
import { bytesOf } from '../../shared/file/content.ts';
import { exists, isDir } from '../../shared/file/facts.ts';
import { hashOfFile } from '../../shared/file/hash-sums.ts';
import { cachedCopy, chooseSource, fetchSource, type SourceRequest } from '../../shared/file/source.ts';
import { withoutPassword } from '../../shared/file/urls.ts';
import { plainNested } from '../../shared/output/nested-text.ts';
import { failureText } from './errors.ts';
import * as common from './params.ts';

const params = {
  name: common.name,
  source: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'the patch' }),
  source_hash: p.scalar({ default: null, doc: 'its hash, when it comes from the web' }),
  source_hash_name: common.sourceHashName,
  skip_verify: common.skipVerify,
  template: common.template,
  context: common.context,
  defaults: common.defaults,
  options: p.oneOf(['string', 'list'], { default: '', doc: 'further options for the program patch' }),
  reject_file: p.scalar({ default: null, doc: 'file for rejected parts' }),
  strip: p.scalar({ default: null, doc: 'number of leading folders to strip from names in the patch' }),
  saltenv: p.scalar({ default: null, doc: 'environment of the source' }),
  kwargs: p.kwargs({ doc: '`hash` and `dry_run_first` are accepted and ignored' }),
};
type Args = ArgsOf<typeof params>;

const notAllowed = ['-N', '--forward', '-r', '--reject-file', '-o', '--output'];

interface Options {
  readonly words: string[];
  readonly strip: number | undefined;
}

/** The given options without those that Halite sets itself; a text when they are invalid. */
function readOptions(args: Args): Options | string {
  const given = Array.isArray(args.options) ? args.options.map(pyStr) : shellSplit(pyStr(args.options ?? ''));
  const advice = "Consider using the 'strip' option for this state.";
  const words: string[] = [];
  const refused = given.filter((word) => notAllowed.some((item) => word.startsWith(item)));
  let strip = args.strip === null ? undefined : Number(pyStr(args.strip));
  for (let at = 0; at < given.length; at++) {
    const word = given[at] as string;
    if (word.startsWith('-p')) {
      if (!/^-p\d+$/.test(word)) return `Invalid format for '-p' CLI option. ${advice}`;
      strip = Number(word.slice(2));
    } else if (word.startsWith('--strip')) {
      const value = word.includes('=') ? word.slice(word.lastIndexOf('=') + 1) : given[++at];
      if (!/^\d+$/.test(value ?? '')) return `Invalid format for '-strip' CLI option. ${advice}`;
      strip = Number(value);
    } else words.push(word);
  }
  if (refused.length > 0) return `The following CLI options are not allowed: ${refused.join(', ')}`;
  return { words, strip };
}

function problemWith(name: string, args: Args): string | undefined {
  if (!which('patch')) return 'patch executable not found on minion';
  if (!name) return 'A file/directory to be patched is required';
  if (!name.startsWith('/')) return `${name} is not an absolute path`;
  if (!exists(name)) return `${name} does not exist`;
  if (args.reject_file === null) return undefined;
  const reject = pyStr(args.reject_file);
  if (!dirName(reject).startsWith('/')) return `'${reject}' is not an absolute path`;
  if (isDir(dirName(reject))) return undefined;
  return `Parent directory for reject_file '${reject}' either does not exist, or is not a directory`;
}

/** The patch as a file; a text when it cannot be fetched. */
async function fetchPatch(
  args: Args,
  folder: string,
  ctx: StateContext,
): Promise<{ path: string } | { problem: string }> {
  const chosen = await chooseSource(args.source, args.source_hash, ctx);
  let { source } = chosen;
  if (args.saltenv !== null && source.startsWith('salt://') && parseSaltUrl(source).saltenv === undefined) {
    source = `${source}?saltenv=${pyStr(args.saltenv)}`;
  }
  const path = join(folder, 'patch');
  const request: SourceRequest = {
    name: path,
    source,
    hash: chosen.hash,
    hashName: args.source_hash_name,
    template: args.template ? pyStr(args.template) : null,
    context: args.context,
    defaults: args.defaults,
    skipVerify: args.skip_verify,
    verifySsl: true,
    useEtag: false,
    extra: newDict(),
  };
  const fetched = await fetchSource(request, ctx);
  if ('problem' in fetched) return { problem: `Unable to manage file: ${fetched.problem}` };
  const { sum } = fetched;
  const content = fetched.content ?? (await cachedCopy(request, sum, ctx));
  if ('path' in content && content.path === '')
    return { problem: `Source file '${withoutPassword(source)}' not found` };
  if (sum && 'path' in content && hashOfFile(content.path, sum.type) !== sum.digits) {
    return {
      problem: `Specified ${sum.type} checksum for ${path} (${sum.digits}) does not match actual checksum (${hashOfFile(content.path, sum.type)})`,
    };
  }
  writeFileSync(path, bytesOf(content));
  return { path };
}

interface Work {
  readonly name: string;
  readonly path: string;
  readonly folder: string;
  readonly options: Options;
  readonly args: Args;
}

type PatchRun = PlainDict & { retcode: number; stdout: string; stderr: string };

async function patchWith(
  work: Work,
  path: string,
  words: string[],
  dryRun: boolean,
  ctx: StateContext,
): Promise<PatchRun> {
  const options = [...work.options.words, ...words].map(shellQuote).join(' ');
  return (await ctx.call('file.patch', work.name, path, options, dryRun)) as PatchRun;
}

async function applyPatch(work: Work, ctx: StateContext): Promise<StateResult> {
  const { name, args, folder, options } = work;
  const strip = isDir(name) && options.strip !== undefined ? [`-p${options.strip}`] : [];
  const rejects = args.reject_file === null ? join(folder, 'rejects') : pyStr(args.reject_file);
  const trial = ['-N', '-r', rejects, '-o', join(folder, 'output'), ...strip];
  // The patched text goes into the temporary folder.
  const check = await onlyReads(() => patchWith(work, work.path, trial, false, ctx));
  if (check.retcode !== 0) {
    const undone = exists(rejects) ? await patchWith(work, rejects, ['-R', '-f'], true, ctx) : undefined;
    if (check.retcode === 2 && check.stderr) return ctx.fail(check.stderr, { name });
    if (undone?.retcode === 0) return ctx.ok('Patch was already applied', { name });
    const advice =
      args.reject_file === null
        ? ' Run state again using the reject_file option to save rejects to a persistent file.'
        : '';
    const shown = plainNested(check, 14);
    return ctx.fail(
      `Patch would not apply cleanly, no changes made. Results of dry-run are below.${advice}\n\n${shown}`,
      { name },
    );
  }
  const done = await ctx.change(check, 'Patch successfully applied', {
    test: 'The patch would be applied',
    async apply() {
      const changes = await patchWith(work, work.path, strip, false, ctx);
      return changes.retcode === 0
        ? ctx.ok('Patch successfully applied', { changes })
        : ctx.fail('Failed to apply patch', { changes });
    },
  });
  return Object.assign(done, { name });
}

export const patch = state({
  doc: 'Applies a patch to a file or folder, unless it is applied already.',
  examples: ['/opt/myfile.txt:\n  file.patch:\n    - source: salt://myfile.patch'],
  params,
  async run(args, ctx) {
    const name = expandUser(args.name);
    const problem = problemWith(name, args);
    if (problem) return ctx.fail(problem, { name });
    const options = readOptions(args);
    if (typeof options === 'string') return ctx.fail(options, { name });
    const folder = mkdtempSync(join(tmpdir(), 'halite-patch-'));
    try {
      const fetched = await fetchPatch(args, folder, ctx);
      if ('problem' in fetched) return ctx.fail(fetched.problem, { name: join(folder, 'patch') });
      const done = await applyPatch({ name, path: fetched.path, folder, options, args }, ctx);
      const unused = ['hash', 'dry_run_first'].filter((key) => args.kwargs[key] !== undefined);
      if (unused.length > 0)
        done['warnings'] = unused.map((key) => `The '${key}' argument is no longer used and has been ignored.`);
      return done;
    } catch (error) {
      return ctx.fail(failureText(error), { name });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});
