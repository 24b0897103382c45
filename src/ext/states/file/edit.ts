// `file.replace`, `line`, `blockreplace`, `comment` and `uncomment`: changes inside a file.
import {
  dictGet,
  isDict,
  isTruthy,
  newDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
  withForecast,
} from 'halite/sdk';
import { expandUser, readFileSync } from 'halite/sdk/fs';
import { byteLines } from '../../shared/file/content.ts';
import { linesWithEnds } from '../shared/text.ts';
import { loadAccumulators } from './accumulators.ts';
import { failureText } from './errors.ts';
import { managed, runManaged } from './managed.ts';
import * as common from './params.ts';
import { fileProblem, shownDiff, sourcesProblem, sourceTexts } from './texts.ts';

const bak = p.scalar({ default: '.bak', nullable: true, doc: 'suffix of the backup of the old file; false for none' });

/** The result for functions that report their own changes, also under test. */
async function told(changes: Value, name: string, would: string, ctx: StateContext): Promise<StateResult> {
  if (!isTruthy(changes)) return ctx.ok('No changes needed to be made', { name });
  const diff = newDict([['diff', changes]]);
  return withForecast(
    ctx,
    () => ctx.result({ name, changes: diff, result: null, comment: would }),
    () => ctx.ok('Changes were made', { name, changes: diff }),
  );
}

export const replace = state({
  doc: 'Replaces what matches a regular expression.',
  examples: [
    '/etc/ssh/sshd_config:\n  file.replace:\n    - pattern: ^PermitRootLogin.*$\n    - repl: PermitRootLogin no',
  ],
  params: {
    name: common.name,
    pattern: p.string({ doc: 'regular expression' }),
    repl: p.string({ doc: 'new text; \\1 and \\g<name> stand for groups' }),
    count: p.int({ default: 0, doc: 'maximum number of replacements; 0 for all' }),
    flags: p.oneOf(['int', 'string', 'list'], {
      default: 8,
      doc: 'flags of the expression: names like MULTILINE, or their number',
    }),
    bufsize: p.ignored({ default: 1, doc: 'accepted' }),
    append_if_not_found: p.bool({ default: false, doc: 'add the text at the end when nothing matches' }),
    prepend_if_not_found: p.bool({ default: false, doc: 'add the text at the beginning when nothing matches' }),
    not_found_content: p.scalar({ default: null, doc: 'what to add then instead of `repl`' }),
    backup: bak,
    show_changes: common.showChanges,
    ignore_if_missing: p.bool({ default: false, doc: 'a missing file is not a failure' }),
    backslash_literal: p.bool({ default: false, doc: 'backslashes in `repl` are literal' }),
    encoding: p.scalar({ default: null, doc: 'encoding of the file' }),
  },
  async run(args, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.replace', { name });
    const problem = fileProblem(name);
    if (problem) {
      if (args.ignore_if_missing && problem.includes('file not found'))
        return ctx.ok('No changes needed to be made', { name });
      return ctx.fail(problem, { name });
    }
    const { name: _, ...rest } = args;
    const changes = await ctx.callWith(
      'file.replace',
      [name],
      // The function has a test mode of its own.
      newDict([...Object.entries(rest), ['dry_run', ctx.test]]),
    );
    return told(changes, name, 'Changes would have been made', ctx);
  },
});

export const line = state({
  doc: 'One line of a file: inserted, replaced or deleted.',
  examples: [
    '/etc/nsswitch.conf:\n  file.line:\n    - mode: ensure\n    - content: "networks:\\tfiles dns"\n    - after: "hosts:.*"',
  ],
  params: {
    name: common.name,
    content: p.scalar({ default: null, doc: 'the line' }),
    match: p.scalar({ default: null, doc: 'text or expression of the line to act on' }),
    mode: p.scalar({ default: null, doc: 'ensure, insert, replace or delete' }),
    location: p.scalar({ default: null, doc: '`start` or `end`, for insert' }),
    before: p.scalar({ default: null, doc: 'expression of the line after it' }),
    after: p.scalar({ default: null, doc: 'expression of the line before it' }),
    show_changes: common.showChanges,
    backup: p.bool({ default: false, doc: 'keep the old file with the time in its name' }),
    quiet: p.bool({ default: false, doc: 'a missing file is not a failure' }),
    indent: p.bool({ default: true, doc: 'use the indentation of the neighbouring line' }),
    create: p.bool({ default: false, doc: 'create an empty file if there is none' }),
    user: common.user,
    group: common.group,
    file_mode: p.scalar({ default: null, doc: 'permission bits of the file' }),
  },
  async run(args, ctx) {
    const name = expandUser(args.name);
    const { create, user, group } = args;
    if (!name) return ctx.fail('Must provide name to file.line', { name });
    await manageAs(name, { create, user, group, mode: args.file_mode, replace: false }, ctx);
    const problem = fileProblem(name);
    if (problem) return ctx.fail(problem, { name });
    const mode = args.mode ? pyStr(args.mode).toLowerCase() : null;
    if (mode === null) return ctx.fail('Mode was not defined. How to process the file?', { name });
    if (mode !== 'delete' && args.content === null)
      return ctx.fail("Content can only be empty if mode is ['delete']", { name });
    const { content, match, location, before, after, show_changes, backup, quiet, indent } = args;
    const kwargs = newDict(
      Object.entries({ content, match, mode, location, before, after, show_changes, backup, quiet, indent }),
    );
    return told(await ctx.callWith('file.line', [name], kwargs), name, 'Changes would be made', ctx);
  },
});

/** `file.managed` with some arguments, the others as if not given. */
function manageAs(name: string, given: Readonly<Record<string, Value>>, ctx: StateContext): Promise<StateResult> {
  const all: Record<string, Value> = {};
  for (const [key, param] of Object.entries(managed.params)) all[key] = given[key] ?? param.default;
  return runManaged({ ...all, ...given, name, kwargs: newDict() } as never, ctx);
}

/** Texts of accumulators for this file: of those that name this state, or of all. */
function collected(name: string, ctx: StateContext): string[] {
  const { texts, dependents } = loadAccumulators(ctx);
  const held = texts[name];
  if (!isDict(held) || held instanceof Map) return [];
  const waiting = dependents[name];
  const named = Object.keys(held).filter((key) => {
    const ids = waiting !== undefined && isDict(waiting) ? dictGet(waiting, key) : undefined;
    return Array.isArray(ids) && ids.includes(ctx.stateId);
  });
  return (named.length > 0 ? named : Object.keys(held)).flatMap((key) => (held[key] as Value[]).map(pyStr));
}

export const blockreplace = state({
  doc: 'The text between two marker lines of a file.',
  examples: [
    '/etc/hosts:\n  file.blockreplace:\n    - marker_start: "# START"\n    - marker_end: "# END"\n    - content: 10.0.0.1 db\n    - append_if_not_found: true',
  ],
  params: {
    name: common.name,
    marker_start: p.string({ default: '#-- start managed zone --', doc: 'line before the text' }),
    marker_end: p.string({ default: '#-- end managed zone --', doc: 'line after the text' }),
    ...common.textSources,
    content: p.scalar({ default: '', nullable: true, doc: 'the text' }),
    append_if_not_found: p.bool({ default: false, doc: 'add the markers at the end when they are missing' }),
    prepend_if_not_found: p.bool({ default: false, doc: 'add the markers at the beginning when they are missing' }),
    backup: bak,
    show_changes: common.showChanges,
    append_newline: p.scalar({ default: null, doc: 'end the text with a line end; default: if it has none' }),
    insert_before_match: p.scalar({ default: null, doc: 'expression of the line to put missing markers before' }),
    insert_after_match: p.scalar({ default: null, doc: 'expression of the line to put missing markers after' }),
  },
  async run(args, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.blockreplace', { name });
    const problem = sourcesProblem(args) ?? fileProblem(name);
    if (problem) return ctx.fail(problem, { name });
    const own = args.content === null ? '' : pyStr(args.content);
    const rendered = await sourceTexts(args, ctx);
    if (rendered && !Array.isArray(rendered)) return rendered;
    const content = [...(own === '' ? [] : [own]), ...collected(name, ctx)].join('\n') + (rendered ?? []).join('');
    const {
      marker_start,
      marker_end,
      append_if_not_found,
      prepend_if_not_found,
      insert_before_match,
      insert_after_match,
    } = args;
    const { backup, show_changes, append_newline } = args;
    const places = { append_if_not_found, prepend_if_not_found, insert_before_match, insert_after_match };
    const kwargs = newDict(
      // The function has a test mode of its own.
      Object.entries({ content, ...places, backup, dry_run: ctx.test, show_changes, append_newline }),
    );
    try {
      const changes = await ctx.callWith('file.blockreplace', [name, marker_start, marker_end], kwargs);
      return await told(changes, name, 'Changes would be made', ctx);
    } catch (error) {
      return ctx.fail(`Encountered error managing block: ${failureText(error)}. See the log for details.`, { name });
    }
  },
});

const search = (name: string, pattern: string, ctx: StateContext) =>
  ctx.callWith('file.search', [name, pattern], { multiline: true });

interface CommentWork {
  readonly name: string;
  readonly regex: string;
  readonly char: string;
  readonly backup: Value;
  readonly comment: boolean;
  /** A pattern that must match after the change. */
  readonly check: string;
}

function applyComment(work: CommentWork, ctx: StateContext): Promise<StateResult> {
  const { name, regex, char, backup, comment } = work;
  const read = (): string[] => (comment ? linesWithEnds(readFileSync(name, 'utf8')) : byteLines(readFileSync(name)));
  return ctx.change(newDict([[name, 'updated']]), '', {
    test: `File ${name} is set to be updated`,
    async apply() {
      const before = read();
      await ctx.call('file.comment_line', name, regex, char, comment, backup);
      const after = read();
      const result = isTruthy(await search(name, work.check, ctx));
      const changes =
        before.join('') === after.join('') ? newDict() : newDict([['diff', shownDiff(name, before, after)]]);
      const word = comment ? 'ommented' : 'ncommented';
      const text = result
        ? `${comment ? 'C' : 'U'}${word} lines successfully`
        : `Expected ${comment ? 'c' : 'u'}${word} lines not found`;
      return ctx.result({ name, changes, result, comment: text });
    },
  });
}

export const comment = state({
  doc: 'Comments out the lines that match a regular expression.',
  examples: ['/etc/fstab:\n  file.comment:\n    - regex: ^bind 127.0.0.1'],
  params: {
    name: common.name,
    regex: p.string({ doc: 'expression of the lines; ^ and $ around it are ignored' }),
    char: p.string({ default: '#', doc: 'comment sign' }),
    backup: bak,
    ignore_missing: p.bool({ default: false, doc: 'not a failure when nothing matches' }),
  },
  async run(args, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.comment', { name });
    const problem = fileProblem(name);
    if (problem) return ctx.fail(problem, { name });
    const { regex, char, backup } = args;
    const bare = /^(?:\(\?[iLmsux]\))?\^?([\s\S]*?)\$?$/.exec(regex)?.[1] ?? regex;
    const check = char + bare;
    if (!isTruthy(await search(name, `^(?!\\s*${char})\\s*${bare}`, ctx))) {
      if (isTruthy(await search(name, check, ctx))) return ctx.ok('Pattern already commented', { name });
      if (args.ignore_missing) return ctx.ok('Pattern not found and ignore_missing set to True', { name });
      return ctx.fail(`${bare}: Pattern not found`, { name });
    }
    return Object.assign(await applyComment({ name, regex, char, backup, comment: true, check }, ctx), { name });
  },
});

export const uncomment = state({
  doc: 'Uncomments the lines that match a regular expression.',
  examples: ['/etc/adduser.conf:\n  file.uncomment:\n    - regex: EXTRA_GROUPS'],
  params: {
    name: common.name,
    regex: p.string({ doc: 'expression of the lines, without the comment sign' }),
    char: p.string({ default: '#', doc: 'comment sign' }),
    backup: bak,
  },
  async run(args, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.uncomment', { name });
    const problem = fileProblem(name);
    if (problem) return ctx.fail(problem, { name });
    const { regex, char, backup } = args;
    const bare = regex.replace(/^\^+/, '');
    const check = `^[ \t]*${bare}`;
    if (!isTruthy(await search(name, `${char}[ \t]*${bare}`, ctx))) {
      if (isTruthy(await search(name, check, ctx))) return ctx.ok('Pattern already uncommented', { name });
      return ctx.fail(`${regex}: Pattern not found`, { name });
    }
    return Object.assign(await applyComment({ name, regex, char, backup, comment: false, check }, ctx), { name });
  },
});
