// Functions of `file` that change parts of a file by regular expressions.

import { commandError, fn, invocationError, p, pyStr, type Value } from 'halite/sdk';
import {
  copyFileSync,
  expandUser,
  isFile,
  lstatOf,
  osText,
  pathExists,
  readFileSync,
  readlinkSync,
} from 'halite/sdk/fs';
import {
  flagLetters,
  keepLines,
  pyEscape,
  pyRegex,
  pyRegexSearch,
  pySub,
  shellSplit,
  unifiedDiff,
} from 'halite/sdk/text';
import { linkBackup, requireText, rewrite } from '../../shared/file/rewrite.ts';
import { realPath } from '../../shared/file/stats.ts';

interface ReplaceArgs {
  readonly path: string;
  readonly pattern: string;
  readonly repl: string;
  readonly count: number;
  readonly flags: Value;
  readonly append_if_not_found: boolean;
  readonly prepend_if_not_found: boolean;
  readonly not_found_content: string | null;
  readonly backup: Value;
  readonly dry_run: boolean;
  readonly search_only: boolean;
  readonly show_changes: boolean;
  readonly ignore_if_missing: boolean;
  readonly preserve_inode: boolean;
  readonly backslash_literal: boolean;
  readonly encoding: string | null;
}

const backupEnding = (backup: Value): string | undefined =>
  backup === false || backup === null || backup === '' ? undefined : backup === true ? '.bak' : pyStr(backup);

function read(path: string, encoding: string | null): string {
  try {
    const known = encoding && Buffer.isEncoding(encoding) ? encoding : 'utf8';
    return readFileSync(path, known);
  } catch (error) {
    throw commandError(`Unable to open file '${path}'. Exception: ${osText(error, path)}`);
  }
}

/** The text with the content added at the start or end, unless it already contains it. */
function withMissing(text: string, args: ReplaceArgs, flags: string, replaced: boolean): string[] {
  const content = args.not_found_content ? args.not_found_content : args.repl;
  const there = pyRegexSearch(`^${pyEscape(content)}($|(?=\\r\\n))`, flags).test(text);
  const known = keepLines(text);
  if (replaced || there) return known;
  const addition = args.not_found_content ?? args.repl;
  // The content is one element even if it has several lines; the diff shows it this way.
  if (args.prepend_if_not_found) return [`${addition}\n`, ...known];
  const last = known.pop();
  return [...known, ...(last === undefined ? [] : [last.endsWith('\n') ? last : `${last}\n`]), `${addition}\n`];
}

function replace(args: ReplaceArgs): Value {
  const given = expandUser(args.path);
  const link = lstatOf(given)?.isSymbolicLink() ? readlinkSync(given) : undefined;
  const path = realPath(given);
  if (!pathExists(path)) {
    if (args.ignore_if_missing) return false;
    throw invocationError(`File not found: ${path}`);
  }
  if (args.encoding === null) requireText(path);
  const adds = args.append_if_not_found || args.prepend_if_not_found;
  if (args.search_only && adds) throw invocationError('search_only cannot be used with append/prepend_if_not_found');
  if (args.append_if_not_found && args.prepend_if_not_found) {
    throw invocationError('Only one of append and prepend_if_not_found is permitted');
  }
  const flags = flagLetters(args.flags);
  const before = read(path, args.encoding);
  if (args.search_only) return pyRegexSearch(args.pattern, flags).test(before);
  const changed = pySub(args.pattern, flags, args.repl, before, args.count, args.backslash_literal);
  const lines = adds ? withMissing(changed.text, args, flags, changed.count > 0) : keepLines(changed.text);
  const after = lines.join('');
  const backup = backupEnding(args.backup);
  if (after !== before && !args.dry_run) {
    rewrite(path, after, { backup, keepInode: args.preserve_inode });
    if (link !== undefined && backup) linkBackup(given, link, backup);
  }
  return args.show_changes ? unifiedDiff(keepLines(before), lines) : after !== before;
}

/** Comments or uncomments matching lines. Returns the diff of those lines, or False when none matches. */
function commentLine(path: string, regex: string, char: string, comment: boolean, backup: Value): Value {
  const inner = regex.replace(/^\^+/, '').replace(/\$+$/, '');
  const end = regex.endsWith('$') ? '$' : '';
  const pattern = pyRegex(
    comment ? `${regex.startsWith('^') ? '^' : ''}(${inner})${end}` : `^${char}\\s*(${inner})${end}`,
  );
  const target = realPath(expandUser(path));
  if (!isFile(target)) throw invocationError(`File not found: ${target}`);
  requireText(target);
  const before: string[] = [];
  const after: string[] = [];
  const strip = (line: string): string => {
    let start = 0;
    while (start < line.length && char.includes(line.charAt(start))) start++;
    return line.slice(start);
  };
  const lines = keepLines(readFileSync(target, 'utf8')).map((line) => {
    // A dollar sign in the pattern matches before the line end.
    if (!pattern.test(line.replace(/\n$/, '')) && !pattern.test(line)) return line;
    const changed = comment ? `${char}${line}` : strip(line);
    before.push(line);
    after.push(changed);
    return changed;
  });
  if (before.length === 0) return false;
  rewrite(target, lines.join(''), { backup: backupEnding(backup), keepInode: false });
  return unifiedDiff(before, after);
}

function sedEscape(text: string, all: boolean): string {
  const basic = text.replaceAll("'", `'"'"'`).replaceAll('/', '\\/');
  return all ? basic.replace(/[\^.[$()|*+?{]/g, '\\$&') : basic;
}

const path = p.path();
const flags = p.oneOf(['int', 'string', 'list'], {
  default: 8,
  doc: 'flags of the regular expression: a number, a name or a list of names',
});
const bufsize = p.ignored({ default: 1, doc: 'accepted; the whole file is read' });
const backup = p.oneOf(['bool', 'string'], {
  default: '.bak',
  nullable: true,
  doc: 'suffix of the backup’s name; False for none',
});

export const replaceFunctions = {
  replace: fn({
    doc: 'Replaces what matches a regular expression. The changes as a diff, or whether there were any.',
    examples: [
      "salt '*' file.replace /etc/httpd/httpd.conf pattern='LogLevel warn' repl='LogLevel info'",
      "salt '*' file.replace /some/file pattern='before' repl='after' flags='[MULTILINE, IGNORECASE]'",
    ],
    params: {
      path,
      pattern: p.string(),
      repl: p.string({ doc: 'the new text; \\1 and \\g<name> stand for groups' }),
      count: p.int({ default: 0, doc: 'maximum number of replacements; 0 for all' }),
      flags,
      bufsize,
      append_if_not_found: p.bool({ default: false, doc: 'add the text at the end when nothing matches' }),
      prepend_if_not_found: p.bool({ default: false, doc: 'add the text at the beginning when nothing matches' }),
      not_found_content: p.string({ default: null, doc: 'what to add then, instead of the new text' }),
      backup,
      dry_run: p.bool({ default: false, doc: 'change nothing' }),
      search_only: p.bool({ default: false, doc: 'only return whether it matches' }),
      show_changes: p.bool({ default: true, doc: 'return the diff' }),
      ignore_if_missing: p.bool({ default: false }),
      preserve_inode: p.bool({ default: true }),
      backslash_literal: p.bool({ default: false, doc: 'backslashes in the new text are literal' }),
      encoding: p.string({ default: null }),
    },
    reads: ({ dry_run }) => dry_run,
    run: (args) => replace(args),
  }),
  search: fn({
    doc: 'Whether a regular expression matches anywhere in a file.',
    examples: ["salt '*' file.search /etc/crontab 'mymaintenance.sh'"],
    params: {
      path,
      pattern: p.string(),
      flags,
      bufsize,
      ignore_if_missing: p.bool({ default: false }),
      multiline: p.bool({ default: false }),
    },
    run({ path: given, pattern, flags: letters, ignore_if_missing, multiline }) {
      const target = realPath(expandUser(given));
      if (!pathExists(target)) {
        if (ignore_if_missing) return false;
        throw invocationError(`File not found: ${target}`);
      }
      requireText(target);
      return pyRegexSearch(pattern, flagLetters(letters) + (multiline ? 'm' : '')).test(read(target, null));
    },
  }),
  comment: fn({
    doc: 'Comments out the lines that match a regular expression.',
    examples: ["salt '*' file.comment /etc/modules pcspkr"],
    params: { path, regex: p.string(), char: p.string({ default: '#' }), backup },
    run: (args) => commentLine(args.path, args.regex, args.char, true, args.backup),
  }),
  uncomment: fn({
    doc: 'Uncomments the lines that match a regular expression.',
    examples: ["salt '*' file.uncomment /etc/hosts.deny 'ALL: PARANOID'"],
    params: { path, regex: p.string(), char: p.string({ default: '#' }), backup },
    run: (args) => commentLine(args.path, args.regex, args.char, false, args.backup),
  }),
  comment_line: fn({
    doc: 'Comments lines, or uncomments them with cmnt=False.',
    examples: ["salt '*' file.comment_line /etc/modules pcspkr cmnt=False"],
    params: { path, regex: p.string(), char: p.string({ default: '#' }), cmnt: p.bool({ default: true }), backup },
    run: (args) => commentLine(args.path, args.regex, args.char, args.cmnt, args.backup),
  }),
  sed: fn({
    doc: 'Runs sed on a file and returns what cmd.run_all does. file.replace is better in most cases.',
    examples: ["salt '*' file.sed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'"],
    params: {
      path,
      before: p.string(),
      after: p.string(),
      limit: p.string({ default: '' }),
      backup: p.string({ default: '.bak' }),
      options: p.string({ default: '-r -e' }),
      flags: p.string({ default: 'g' }),
      escape_all: p.bool({ default: false }),
      negate_match: p.bool({ default: false }),
    },
    run(args, ctx) {
      const target = expandUser(args.path);
      if (!pathExists(target)) return false;
      const [before, after, limit] = [args.before, args.after, args.limit].map((text) =>
        sedEscape(text, args.escape_all),
      );
      const expression = `${limit ? `/${limit}/ ` : ''}${args.negate_match ? '!' : ''}s/${before}/${after}/${args.flags}`;
      const inPlace = args.backup ? `-i${args.backup}` : '-i';
      return ctx.call('cmd.run_all', ['sed', inPlace, ...shellSplit(args.options), expression, target]);
    },
  }),
  sed_contains: fn({
    doc: 'Whether sed finds a text in a file.',
    examples: ["salt '*' file.contains /etc/crontab 'mymaintenance.sh'"],
    params: { path, text: p.string(), limit: p.string({ default: '' }), flags: p.string({ default: 'g' }) },
    async run(args, ctx) {
      const target = expandUser(args.path);
      if (!pathExists(target)) return false;
      const limit = sedEscape(args.limit, false);
      const expression = `${limit ? `/${limit}/ ` : ''}s/${sedEscape(args.text, false)}/$/p${args.flags}`;
      return Boolean(await ctx.call('cmd.run', ['sed', '-n', '-r', '-e', expression, target]));
    },
  }),
  psed: fn({
    doc: 'Replaces what matches a regular expression. Older than file.replace, which is better.',
    examples: ["salt '*' file.psed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'"],
    params: {
      path,
      before: p.string(),
      after: p.string(),
      limit: p.string({ default: '' }),
      backup: p.string({ default: '.bak' }),
      flags: p.string({ default: 'gMS' }),
      escape_all: p.bool({ default: false }),
      multi: p.bool({ default: false }),
    },
    run(args) {
      const target = expandUser(args.path);
      const text = read(target, null);
      copyFileSync(target, `${target}${args.backup}`);
      const letters = flagLetters([...args.flags.replaceAll('g', '')]);
      const pattern = sedEscape(args.before, args.escape_all);
      rewrite(target, pySub(pattern, letters, args.after, text, args.flags.includes('g') ? 0 : 1).text);
      return null;
    },
  }),
};
