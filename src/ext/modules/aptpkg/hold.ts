// Functions of `pkg` for held packages.

import {
  commandError,
  dictEntries,
  fn,
  invocationError,
  isDict,
  type ModuleContext,
  messageOf,
  newDict,
  oneOrMore,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { readFile } from 'halite/sdk/fs';
import { callApt } from './apt.ts';
import { parseSelections, selections, selectionsValue } from './dpkg.ts';

const states = ['install', 'hold', 'deinstall', 'purge'];

function asSelection(value: Value): Map<string, string[]> {
  let read = value;
  if (typeof value === 'string') {
    try {
      read = loadYaml(value);
    } catch (error) {
      throw invocationError(`Improperly-formatted selection: ${messageOf(error)}`);
    }
  }
  if (!isDict(read)) return new Map();
  return new Map(dictEntries(read).map(([state, list]) => [pyStr(state), oneOrMore(list).map((name) => pyStr(name))]));
}

async function setSelections(wanted: Map<string, string[]>, clear: boolean, ctx: ModuleContext): Promise<PlainDict> {
  const bad = [...wanted.keys()].filter((state) => !states.includes(state));
  if (bad.length > 0) throw invocationError(`Invalid state(s): ${bad.join(', ')}`);
  if (clear && !ctx.test) {
    const { retcode, stderr } = await callApt(ctx, ['dpkg', '--clear-selections']);
    if (retcode !== 0) throw commandError(`Running dpkg --clear-selections failed: ${stderr.trim()}`);
  }
  const now = new Map<string, string>();
  for (const [state, names] of await selections(null, ctx)) for (const name of names) now.set(name, state);
  const changed = newDict();
  for (const [state, names] of wanted) {
    for (const name of names) {
      if (now.get(name) === state || ctx.test) continue;
      const { retcode } = await callApt(ctx, ['dpkg', '--set-selections'], { input: `${name} ${state}` });
      if (retcode !== 0) ctx.log.error('selection failed', { name, state });
      else
        changed[name] = newDict([
          ['old', now.get(name) ?? null],
          ['new', state],
        ]);
    }
  }
  return changed;
}

interface HoldArgs {
  readonly name: string | null;
  readonly pkgs: Value;
  readonly sources: Value;
}

function targetsOf(args: HoldArgs): string[] {
  if (!args.name && !args.pkgs && !args.sources)
    throw invocationError('One of name, pkgs, or sources must be specified.');
  if (args.pkgs && args.sources) throw invocationError('Only one of pkgs or sources can be specified.');
  const list = args.pkgs || args.sources;
  const items = Array.isArray(list) ? list : list ? [list] : [args.name];
  return items.map((item) => (isDict(item) ? pyStr(dictEntries(item)[0]?.[0] ?? '') : pyStr(item)));
}

const answer = (name: string, result: boolean | null, comment: string, changes: Value = newDict()): PlainDict =>
  newDict([
    ['name', name],
    ['changes', changes],
    ['result', result],
    ['comment', comment],
  ]);

async function hold(args: HoldArgs, ctx: ModuleContext): Promise<PlainDict> {
  const found = newDict();
  for (const name of targetsOf(args)) {
    const held = ((await selections(name, ctx)).get('hold') ?? []).length > 0;
    if (held) found[name] = answer(name, true, `Package ${name} is already set to be held.`);
    else if (ctx.test) found[name] = answer(name, null, `Package ${name} is set to be held.`);
    else {
      const changed = await setSelections(new Map([['hold', [name]]]), false, ctx);
      found[name] = answer(name, true, `Package ${name} is now being held.`, changed[name] ?? newDict());
    }
  }
  return found;
}

async function unhold(args: HoldArgs, ctx: ModuleContext): Promise<PlainDict> {
  const found = newDict();
  for (const name of targetsOf(args)) {
    const state = await selections(name, ctx);
    if (state.size === 0) found[name] = answer(name, false, `Package ${name} does not have a state.`);
    else if (!state.get('hold')?.length)
      found[name] = answer(name, true, `Package ${name} is already set not to be held.`);
    else if (ctx.test) found[name] = answer(name, null, `Package ${name} is set not to be held.`);
    else {
      const changed = await setSelections(new Map([['install', [name]]]), false, ctx);
      found[name] = answer(name, true, `Package ${name} is no longer being held.`, changed[name] ?? newDict());
    }
  }
  return found;
}

const params = {
  name: p.string({ default: null }),
  pkgs: p.oneOf(['string', 'list', 'dict'], { default: null, falsy: null }),
  sources: p.oneOf(['string', 'list', 'dict'], { default: null, falsy: null }),
  kwargs: p.kwargs(),
};

export const holdFunctions = {
  hold: fn({
    doc: 'Holds packages at their version.',
    examples: ["salt '*' pkg.hold <package name>", `salt '*' pkg.hold pkgs='["foo", "bar"]'`],
    params,
    reads: (_, ctx) => ctx.test,
    run: hold,
  }),
  unhold: fn({
    doc: 'Releases held packages.',
    examples: ["salt '*' pkg.unhold <package name>"],
    params,
    reads: (_, ctx) => ctx.test,
    run: unhold,
  }),
  get_selections: fn({
    doc: 'Packages by the state selected for them.',
    examples: ["salt '*' pkg.get_selections", "salt '*' pkg.get_selections 'python-*' state=hold"],
    params: { pattern: p.string({ default: null }), state: p.string({ default: null }) },
    async run(args, ctx) {
      const found = await selections(args.pattern, ctx);
      return args.state ? newDict([[args.state, found.get(args.state) ?? []]]) : selectionsValue(found);
    },
  }),
  set_selections: fn({
    doc: 'Selects states for packages: install, hold, deinstall, purge.',
    examples: [
      `salt '*' pkg.set_selections selection='{"install": ["netcat"]}'`,
      "salt '*' pkg.set_selections salt://path/to/file",
    ],
    params: {
      path: p.string({ default: null, doc: 'file with the output of dpkg --get-selections' }),
      selection: p.oneOf(['string', 'dict'], { default: null, falsy: null }),
      clear: p.bool({ default: false, doc: 'deselect everything first' }),
      saltenv: p.string({ default: 'base' }),
    },
    async run(args, ctx) {
      if (!args.path && !args.selection) return newDict();
      if (args.path && args.selection) {
        throw invocationError(
          "The 'selection' and 'path' arguments to pkg.set_selections are mutually exclusive, and cannot be specified together",
        );
      }
      if (!args.path) return setSelections(asSelection(args.selection), args.clear, ctx);
      const cached = pyStr(await ctx.call('cp.cache_file', args.path, args.saltenv));
      return setSelections(parseSelections(await readFile(cached, 'utf8')), args.clear, ctx);
    },
  }),
};
