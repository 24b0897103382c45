// `file.blockreplace`: the lines between two markers.

import { commandError, fn, invocationError, p, pyStr, type Value } from 'halite/sdk';
import { expandUser, pathExists, readFileSync } from 'halite/sdk/fs';
import { pyRegexSearch, unifiedDiff } from 'halite/sdk/text';
import { requireText, rewrite } from '../../shared/file/rewrite.ts';

export interface BlockRequest {
  readonly marker_start: string;
  readonly marker_end: string;
  readonly content: string;
  readonly append_if_not_found: boolean;
  readonly prepend_if_not_found: boolean;
  readonly append_newline: Value;
  readonly insert_before_match: Value;
  readonly insert_after_match: Value;
}

/** Lines with their line ends; only \n ends a line, as when Python reads a file line by line. */
const rawLines = (text: string): string[] => text.split(/(?<=\n)/).filter((line) => line !== '');

function blockLines(request: BlockRequest, end: string, withStart: boolean, lineEnd: string): string[] {
  const newline = request.append_newline === null ? !request.content.endsWith('\n') : Boolean(request.append_newline);
  const content = request.content.split(/\r?\n/);
  const closing = end.replace(/[\r\n]+$/, '') + lineEnd;
  const lines = withStart ? [request.marker_start + lineEnd] : [];
  for (const [index, line] of content.entries()) {
    if (index < content.length - 1) lines.push(line + lineEnd);
    else if (newline) lines.push(line + lineEnd, closing);
    else lines.push(line + closing);
  }
  return lines;
}

/** The text with the content of the block replaced; undefined when there is no such block. */
function exchanged(lines: readonly string[], request: BlockRequest, lineEnd: string): string[] | undefined {
  const made: string[] = [];
  let inside = false;
  let found = false;
  for (const line of lines) {
    if (line.includes(request.marker_start)) {
      inside = true;
      made.push(line);
    } else if (!inside) made.push(line);
    else {
      const at = line.indexOf(request.marker_end);
      if (at < 0) continue;
      inside = false;
      found = true;
      made.push(...blockLines(request, line.slice(at), false, lineEnd));
    }
  }
  if (inside) throw commandError('Unterminated marked block. End of file reached before marker_end.');
  return found ? made : undefined;
}

function added(lines: readonly string[], request: BlockRequest, lineEnd: string): string[] | undefined {
  const block = blockLines(request, request.marker_end, true, lineEnd);
  if (request.prepend_if_not_found) return [...block, ...lines];
  if (request.append_if_not_found) {
    const last = lines.at(-1);
    const closed = last !== undefined && !last.endsWith(lineEnd) ? [...lines.slice(0, -1), last + lineEnd] : lines;
    return [...closed, ...block];
  }
  const pattern = request.insert_before_match || request.insert_after_match;
  if (!pattern) return undefined;
  const compiled = pyRegexSearch(pyStr(pattern));
  const at = lines.findIndex((line) => compiled.test(line));
  return at < 0 ? undefined : lines.toSpliced(request.insert_after_match ? at + 1 : at, 0, ...block);
}

function replaceBlock(text: string, request: BlockRequest): string[] {
  const lines = rawLines(text);
  const lineEnd = lines[0]?.endsWith('\r\n') ? '\r\n' : '\n';
  const made = exchanged(lines, request, lineEnd) ?? added(lines, request, lineEnd);
  if (!made) throw commandError('Cannot edit marked block. Markers were not found in file.');
  return made;
}

export const blockFunctions = {
  blockreplace: fn({
    doc: 'Writes content between two marker lines of a file; missing markers are added on request.',
    examples: [
      `salt '*' file.blockreplace /etc/hosts '#-- start managed zone foobar : DO NOT EDIT --' '#-- end managed zone foobar --' $'10.0.1.1 foo.foobar\\n10.0.1.2 bar.foobar' True`,
    ],
    params: {
      path: p.path(),
      marker_start: p.string({ default: '#-- start managed zone --' }),
      marker_end: p.string({ default: '#-- end managed zone --' }),
      content: p.string({ default: '' }),
      append_if_not_found: p.bool({ default: false }),
      prepend_if_not_found: p.bool({ default: false }),
      backup: p.oneOf(['bool', 'string'], { default: '.bak', doc: 'suffix of the backup’s name; False for none' }),
      dry_run: p.bool({ default: false }),
      show_changes: p.bool({ default: true, doc: 'return the diff' }),
      append_newline: p.truthy({
        default: false,
        nullable: true,
        doc: 'end the content with a line break; None: only if it has none',
      }),
      insert_before_match: p.string({
        default: null,
        falsy: null,
        doc: 'regular expression of the line to put the block before',
      }),
      insert_after_match: p.string({
        default: null,
        falsy: null,
        doc: 'regular expression of the line to put the block after',
      }),
    },
    reads: ({ dry_run }) => dry_run,
    run(args): Value {
      const places = [
        args.append_if_not_found,
        args.prepend_if_not_found,
        args.insert_before_match,
        args.insert_after_match,
      ];
      if (places.filter(Boolean).length > 1) {
        throw invocationError(
          'Only one of append_if_not_found, prepend_if_not_found, insert_before_match, and insert_after_match is permitted',
        );
      }
      for (const name of ['insert_before_match', 'insert_after_match'] as const) {
        if (args[name] && typeof args[name] !== 'string') throw commandError(`RegEx expected in ${name} parameter.`);
      }
      const target = expandUser(args.path);
      if (!pathExists(target)) throw invocationError(`File not found: ${target}`);
      requireText(target);
      const text = readFileSync(target, 'utf8');
      const made = replaceBlock(text, args);
      const diff = unifiedDiff(rawLines(text), made);
      if (diff !== '' && !args.dry_run) {
        rewrite(target, made.join(''), {
          backup: args.backup === false ? undefined : pyStr(args.backup),
          keepInode: false,
        });
      }
      return args.show_changes ? diff : diff !== '';
    },
  }),
};
