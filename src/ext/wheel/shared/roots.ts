// Reads and writes files under the roots of an environment: shared code of `file_roots` and `pillar_roots`.

import { dirname, isAbsolute, join } from 'node:path';
import {
  asList,
  defineWheel,
  dictEntries,
  dictOf,
  isDict,
  type MasterContext,
  masterFn,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
  type Wheel,
} from 'halite/sdk';
import { isFile, mkdirSync, readdirSync, readFileSync, safeJoin, statSync, writeFileSync } from 'halite/sdk/fs';
import { isText } from '../../shared/file/rewrite.ts';

type Roots = 'file_roots' | 'pillar_roots';

const path = p.text({ doc: 'the file, relative to the roots' });
const saltenv = p.text({ default: 'base', doc: 'the environment' });

function environments(ctx: MasterContext, option: Roots): ReadonlyMap<string, string[]> {
  const given = ctx.opts[option];
  const entries = isDict(given) ? dictEntries(given) : [];
  return new Map(entries.map(([env, roots]): [string, string[]] => [String(env), (asList(roots) ?? []).map(String)]));
}

/** The path below a root; undefined when it would leave the root. */
function below(root: string, relative: string): string | undefined {
  try {
    return safeJoin(root, relative);
  } catch {
    return undefined;
  }
}

function find(roots: readonly string[], relative: string): string[] {
  const found = roots.map((root) => below(root, relative));
  return found.filter((file): file is string => file !== undefined && isFile(file));
}

/** Folders as maps, anything else as `f`; links are not followed. */
function tree(folder: string): PlainDict {
  const found = newDict();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const full = join(folder, entry.name);
    if (entry.isDirectory()) found[entry.name] = tree(full);
    else found[entry.name] = entry.isSymbolicLink() && !isFile(full) ? newDict() : 'f';
  }
  return found;
}

function trees(roots: readonly string[]): PlainDict {
  const there = (root: string): boolean => statSync(root, { throwIfNoEntry: false })?.isDirectory() === true;
  return newDict(roots.map((root): [string, Value] => [root, there(root) ? tree(root) : newDict()]));
}

interface Writing {
  readonly data: Value;
  readonly path: string;
  readonly saltenv: string;
  readonly index: number;
}

function write(roots: readonly string[] | undefined, request: Writing): string {
  const { saltenv: env, path: relative, index } = request;
  if (!roots) return `Named environment ${env} is not present`;
  const root = roots[index];
  if (root === undefined) return `Specified index ${index} in environment ${env} is not present`;
  if (isAbsolute(relative)) return `The path passed in ${relative} is not relative to the environment ${env}`;
  const file = below(root, relative);
  if (file === undefined) return `Invalid path: ${relative}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, pyStr(request.data));
  return `Wrote data to file ${file}`;
}

/** The wheel module of that name; `what` names the files in its texts. */
export function rootsWheel(option: Roots, what: string): Wheel {
  const rootsOf = (ctx: MasterContext, env: string): readonly string[] => environments(ctx, option).get(env) ?? [];
  return defineWheel({
    name: option,
    doc: `Show and write ${what}.`,
    functions: {
      find: masterFn({
        doc: 'The full path of a file in each root that has it, and whether it is text (txt) or not (bin).',
        examples: [`salt '*' saltutil.wheel ${option}.find top.sls`],
        params: { path, saltenv },
        run: ({ path: relative, saltenv: env }, ctx) =>
          find(rootsOf(ctx, env), relative).map((file) => dictOf([[file, isText(file) ? 'txt' : 'bin']])),
      }),
      list_env: masterFn({
        doc: 'Everything in an environment, by root, as maps within maps.',
        examples: [`salt '*' saltutil.wheel ${option}.list_env base`],
        params: { saltenv },
        run: ({ saltenv: env }, ctx) => trees(rootsOf(ctx, env)),
      }),
      list_roots: masterFn({
        doc: 'Everything in all environments.',
        examples: [`salt '*' saltutil.wheel ${option}.list_roots`],
        params: {},
        run: (_args, ctx) =>
          newDict([...environments(ctx, option)].map(([env, roots]): [string, Value] => [env, [trees(roots)]])),
      }),
      read: masterFn({
        doc: 'The text of a file in each root that has it; binary files are omitted.',
        examples: [`salt '*' saltutil.wheel ${option}.read top.sls`],
        params: { path, saltenv },
        run: ({ path: relative, saltenv: env }, ctx) =>
          find(rootsOf(ctx, env), relative)
            .filter(isText)
            .map((file) => dictOf([[file, readFileSync(file, 'utf8')]])),
      }),
      write: masterFn({
        doc: 'Writes a file into one of the roots.',
        examples: [`salt '*' saltutil.wheel ${option}.write 'text' path/of/file`],
        params: {
          data: p.string({ doc: 'its content' }),
          path,
          saltenv,
          index: p.int({ default: 0, doc: 'which of the roots, counted from 0' }),
        },
        run: (args, ctx) => write(environments(ctx, option).get(args.saltenv), args),
      }),
    },
  });
}
