// `file.line`: inserts, ensures, replaces or deletes one line.

import { commandError, fn, messageOf, p, type Value } from 'halite/sdk';
import { expandUser, isFile, readFileSync } from 'halite/sdk/fs';
import { keepLines, pyRegexSearch, unifiedDiff } from 'halite/sdk/text';
import { strftime } from 'halite/sdk/time';
import { rewrite } from '../../shared/file/rewrite.ts';
import { realPath } from '../../shared/file/stats.ts';

export interface LineRequest {
  readonly content: string | null;
  readonly match: string | null;
  readonly mode: string;
  readonly location: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly indent: boolean;
}

/** The lines that a pattern matches, as regular expression or as plain text; undefined without a pattern. */
function fitting(lines: readonly string[], pattern: string | null): string[] | undefined {
  if (!pattern || lines.length === 0) return undefined;
  try {
    const compiled = pyRegexSearch(pattern, 's');
    return lines.filter((line) => compiled.test(line) || line.includes(pattern));
  } catch (error) {
    throw commandError(`${messageOf(error)}: '${pattern}'`);
  }
}

function requireOne(found: readonly string[], what: string): string {
  if (found.length === 1) return found[0] as string;
  throw commandError(
    `Found ${found.length > 1 ? 'more than' : 'less than'} expected occurrences in "${what}" expression`,
  );
}

/** The content with the indentation of another line. */
function indented(source: string, content: string, indent: boolean): string {
  return indent ? (/^[\t ]*/.exec(source)?.[0] ?? '') + content.trimStart() : content;
}
const lineEnd = (line: string): string => /(\r\n|\n|\r)$/.exec(line)?.[0] ?? '';
const withEndOf = (source: string, line: string): string => line.trimEnd() + (lineEnd(source) || '\n');
const bare = (line: string | undefined): string | undefined => line?.replace(/[\r\n]+$/, '');

function insertAtLocation(lines: string[], content: string, location: string, indent: boolean): string[] {
  if (location === 'end') {
    return lines.length > 0 ? [...lines, indented(lines.at(-1) as string, content, indent)] : [content];
  }
  if (location === 'start')
    return lines.length > 0 ? [withEndOf(lines[0] as string, content), ...lines] : [`${content}\n`];
  return lines;
}

function insert(lines: string[], content: string, request: LineRequest, before?: string[], after?: string[]): string[] {
  const put = (index: number, like: string): string[] =>
    lines.toSpliced(index, 0, indented(like, content, request.indent));
  if (before === undefined && after === undefined && request.location === null) {
    throw commandError('On insert either "location" or "before/after" conditions are required.');
  }
  if (request.location) return insertAtLocation(lines, content, request.location, request.indent);
  if (before?.length && after?.length) {
    requireOne(after, 'after');
    const last = lines.indexOf(requireOne(before, 'before'));
    return put(last, lines[last] as string);
  }
  if (after?.length) {
    const index = lines.indexOf(requireOne(after, 'after'));
    return bare(lines[index + 1]) === bare(content) ? lines : put(index + 1, lines[index] as string);
  }
  if (before?.length) {
    const index = lines.indexOf(requireOne(before, 'before'));
    return bare(lines.at(index - 1)) === bare(content) ? lines : put(index, lines[index] as string);
  }
  throw commandError('Neither before or after was found in file');
}

function ensureBetween(
  lines: string[],
  content: string,
  request: LineRequest,
  before: string[],
  after: string[],
): string[] {
  const first = lines.indexOf(requireOne(after, 'after'));
  const last = lines.indexOf(requireOne(before, 'before'));
  if (lines.some((line) => line.trimStart() === content)) return lines;
  const made = indented(lines[first] as string, content, request.indent);
  if (first + 1 === last) return lines.toSpliced(first + 1, 0, made);
  if (first + 2 === last) return lines.with(first + 1, made);
  throw commandError('Found more than one line between boundaries "before" and "after".');
}

function ensure(lines: string[], content: string, request: LineRequest, before?: string[], after?: string[]): string[] {
  if (before?.length && after?.length) return ensureBetween(lines, content, request, before, after);
  if (before?.length) {
    const index = lines.indexOf(requireOne(before, 'before'));
    if (index > 0 && bare(lines[index - 1]) === bare(content)) return lines;
    return lines.toSpliced(index, 0, indented(lines.at(index - 1) as string, content, request.indent));
  }
  if (after?.length) {
    const index = lines.indexOf(requireOne(after, 'after'));
    if (bare(lines[index + 1]) === bare(content)) return lines;
    return lines.toSpliced(index + 1, 0, indented(lines[index] as string, content, request.indent));
  }
  throw commandError('Wrong conditions? Unable to ensure line without knowing where to put it before and/or after.');
}

/** The resulting lines, each with its line end. */
function setLine(lines: string[], request: LineRequest): string[] {
  const { mode } = request;
  const content = request.content ?? '';
  const noPlace = !request.match && request.before === null && request.after === null;
  const after = fitting(lines, request.after);
  const before = fitting(lines, request.before);
  const match = fitting(lines, noPlace ? request.content : request.match);
  if (lines.length === 0 && (mode === 'delete' || mode === 'replace')) return [];
  if (mode === 'delete') return match?.length ? lines.filter((line) => line !== match[0]) : lines;
  if (mode === 'replace') {
    if (!match?.length) return lines;
    const index = lines.indexOf(match[0] as string);
    return lines.with(index, indented(lines[index] as string, content, request.indent));
  }
  return mode === 'insert'
    ? insert(lines, content, request, before, after)
    : ensure(lines, content, request, before, after);
}

/** Every line but the last gets a line end, like the one before it. */
function completed(lines: string[]): string[] {
  const made = [...lines];
  for (const [index, line] of made.entries()) {
    if (lineEnd(line) || index + 1 >= made.length) continue;
    made[index] = withEndOf(made[index > 1 ? index - 1 : 1] as string, line);
  }
  if (made.at(-1) === '') made.pop();
  return made;
}

function checkMode(mode: string | null, content: string | null): string {
  const name = mode?.toLowerCase() ?? null;
  if (name === null) throw commandError('Mode was not defined. How to process the file?');
  if (!['insert', 'ensure', 'delete', 'replace'].includes(name)) throw commandError(`Unknown mode: "${name}"`);
  if (name !== 'delete' && content === null) throw commandError('Content can only be empty if mode is "delete"');
  return name;
}

export const lineFunctions = {
  line: fn({
    doc: [
      'Edits one line of a file. Mode `ensure` puts the content between, before or after lines that fit; `insert` also at the start',
      'or end; `replace` and `delete` act on the line that fits `match` (or the content).',
    ].join('\n'),
    examples: [`salt '*' file.line /etc/nsswitch.conf "networks:\tfiles dns" after="hosts:.*?" mode='ensure'`],
    params: {
      path: p.path(),
      content: p.string({ default: null }),
      match: p.string({ default: null }),
      mode: p.string({ default: null }),
      location: p.string({ default: null, doc: '`start` or `end`' }),
      before: p.string({ default: null }),
      after: p.string({ default: null }),
      show_changes: p.bool({ default: true, doc: 'return the diff' }),
      backup: p.bool({ default: false, doc: 'keep the old file with the time in its name' }),
      quiet: p.bool({ default: false, doc: 'a missing file is not a failure' }),
      indent: p.bool({ default: true, doc: 'use the indentation of the neighbouring line' }),
    },
    reads: (_, ctx) => ctx.test,
    run(args, ctx): Value {
      const target = realPath(expandUser(args.path));
      if (!isFile(target)) {
        if (!args.quiet) throw commandError(`File "${target}" does not exists or is not a file.`);
        return false;
      }
      const mode = checkMode(args.mode, args.content);
      const text = readFileSync(target, 'utf8');
      const before = keepLines(text);
      const open = before.length > 0 && lineEnd(before.at(-1) as string) ? [...before, ''] : before;
      const after = completed(setLine(open, { ...args, mode }));
      const made = after.join('');
      if (made === text) return false;
      if (!ctx.test) {
        const stamp = args.backup ? `.${strftime(new Date(), '%Y-%m-%d-%H-%M-%S')}` : undefined;
        rewrite(target, made, { backup: stamp, keepInode: false });
      }
      return args.show_changes ? unifiedDiff(before, after) : true;
    },
  }),
};
