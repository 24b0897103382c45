// `file.append` and `file.prepend`: text at the end or beginning of a file, unless it is there already.

import { type ArgsOf, newDict, p, type StateContext, type StateResult, state } from 'halite/sdk';
import { dirName, expandUser, readFileSync } from 'halite/sdk/fs';
import { lines } from 'halite/sdk/text';
import { isDir } from '../../shared/file/facts.ts';
import { makeParents } from '../../shared/file/folders.ts';
import { linesWithEnds, textList } from '../shared/text.ts';
import * as common from './params.ts';
import { touchFile } from './presence.ts';
import { fileProblem, shownDiff, sourcesProblem, sourceTexts, spacelessPattern } from './texts.ts';

const shared = {
  name: common.name,
  text: p.any({ default: null, doc: 'text, or a list of texts' }),
  makedirs: common.makedirs,
  ...common.textSources,
};
type Args = ArgsOf<typeof shared>;

interface Ready {
  readonly name: string;
  readonly chunks: string[];
  readonly before: string;
}

/** The file and the texts to add, or a final result. */
async function prepare(
  args: Args,
  what: string,
  ctx: StateContext,
): Promise<{ ready: Ready } | { settled: StateResult }> {
  const name = expandUser(args.name);
  if (!name) return { settled: ctx.fail(`Must provide name to file.${what}`, { name }) };
  const wrong = sourcesProblem(args);
  if (wrong) return { settled: ctx.fail(wrong, { name }) };
  // The folder is made before anything is known of the file, and not announced, as in Salt.
  if (args.makedirs && !ctx.test && !isDir(dirName(name)))
    await makeParents(name, { user: null, group: null, mode: null }, ctx);
  const problem = fileProblem(name);
  if (problem) {
    const touched = await touchFile(name, null, null, args.makedirs, ctx);
    // The text of a file that is not there yet cannot be compared.
    if (ctx.test) return { settled: touched };
    if (fileProblem(name)) return { settled: ctx.fail(problem, { name }) };
  }
  const rendered = await sourceTexts(args, ctx);
  if (rendered && !Array.isArray(rendered)) return { settled: rendered };
  return { ready: { name, chunks: rendered ?? textList(args.text) ?? [], before: readFileSync(name, 'utf8') } };
}

const found = (name: string, pattern: string, ctx: StateContext) =>
  ctx.callWith('file.search', [name, pattern], { multiline: true });

export const append = state({
  doc: 'Text at the end of a file, added when it is not yet in the file.',
  examples: ['/etc/motd:\n  file.append:\n    - text: |\n        Be polite.'],
  params: { ...shared, ignore_whitespace: p.bool({ default: true, doc: 'white space in the text may differ' }) },
  async run(args, ctx) {
    const prepared = await prepare(args, 'append', ctx);
    if ('settled' in prepared) return prepared.settled;
    const { name, before, chunks } = prepared.ready;
    const added: string[] = [];
    for (const chunk of chunks) {
      if (!(await found(name, args.ignore_whitespace ? spacelessPattern(chunk) : chunk, ctx)))
        added.push(...lines(chunk));
    }
    const old = lines(before);
    if (added.length === 0) return ctx.ok(`File ${name} is in correct state`, { name: name });
    const done = await ctx.change(
      newDict([['diff', appendDiff(name, old, [...old, ...added])]]),
      `Appended ${added.length} lines`,
      {
        test: `File ${name} is set to be updated`,
        apply: () => ctx.callWith('file.append', [name], { args: added }),
      },
    );
    return Object.assign(done, { name });
  },
});

/** Salt: here the lines come without ends, and the difference is joined with line ends. */
function appendDiff(name: string, before: readonly string[], after: readonly string[]): string {
  const diff = shownDiff(
    name,
    before.map((line) => `${line}\u0000`),
    after.map((line) => `${line}\u0000`),
  );
  return diff
    .replaceAll('\u0000', '\n')
    .replace(/^--- \n\+\+\+ \n/, '--- \n\n+++ \n\n')
    .replace(/^(@@ .* @@)\n/gm, '$1\n\n')
    .replace(/\n$/, '');
}

export const prepend = state({
  doc: 'Text at the beginning of a file, added when it is not yet in the file.',
  examples: ['/etc/motd:\n  file.prepend:\n    - text:\n      - Welcome.'],
  params: { ...shared, header: p.scalar({ default: null, doc: 'the text must be the very beginning of the file' }) },
  async run(args, ctx) {
    const prepared = await prepare(args, 'prepend', ctx);
    if ('settled' in prepared) return prepared.settled;
    const { name, before, chunks } = prepared.ready;
    const added: string[] = [];
    for (const chunk of chunks)
      if (args.header || !(await found(name, spacelessPattern(chunk), ctx))) added.push(...lines(chunk));
    const old = linesWithEnds(before);
    const heads = args.header && lines(old.slice(0, added.length).join('')).join('\n') === added.join('\n');
    if (added.length === 0 || heads) return ctx.ok(`File ${name} is in correct state`, { name });
    const now = [...added.map((line) => `${line}\n`), ...old];
    const done = await ctx.change(newDict([['diff', shownDiff(name, old, now)]]), `Prepended ${added.length} lines`, {
      test: `File ${name} is set to be updated`,
      apply: () => ctx.call('file.prepend', name, ...added),
    });
    return Object.assign(done, { name });
  },
});
