// What may stand at the cursor: options and their values from the option tables, then targets, functions and parameters.
import { configDirOf } from '../../base/config/load-files.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { FunctionKind } from '../../extend/loader/index.ts';
import { builtin } from '../../extend/loader/outputters.gen.ts';
import type { KeyState } from '../../extend/sdk/index.ts';
import { verbs } from '../halite/verbs.ts';
import { commandSpecs } from '../options/all.ts';
import { allOptions, type CommandSpec, type OptionSpec, takesValue } from '../optparse.ts';
import { type Candidate, functions, minionIds, nodeGroups, optsOf, parameters } from './sources.ts';
import type { TypedLine } from './typed-line.ts';

/** More than a terminal can show are of no use. */
const most = 5_000;
const keyOptions: Readonly<Record<string, readonly KeyState[]>> = {
  accept: ['pending', 'rejected', 'denied'],
  reject: ['pending', 'accepted'],
  delete: ['accepted', 'pending', 'rejected', 'denied'],
  finger: ['accepted', 'pending', 'rejected', 'denied'],
  print: ['accepted', 'pending', 'rejected', 'denied'],
};
const functionKinds: Readonly<Record<string, FunctionKind>> = {
  salt: 'modules',
  'salt-call': 'modules',
  'salt-run': 'runners',
};
/** How many words stand before the function. */
const before: Readonly<Record<string, number>> = { salt: 1, 'salt-call': 0, 'salt-run': 0 };

interface Place {
  readonly command: string;
  readonly spec: CommandSpec;
  /** Words that are neither options nor their values. */
  readonly args: readonly string[];
  /** Options by destination, as they were typed. */
  readonly options: ReadonlyMap<string, string>;
  /** The option whose value stands at the cursor. */
  readonly waiting: OptionSpec | undefined;
}

/** Nothing for a command that is not one of ours. */
export async function candidates({ words, current }: TypedLine): Promise<Candidate[]> {
  const command = (words[0] ?? '').replace(/^.*\//, '');
  const spec = commandSpecs.get(command)?.();
  if (!spec) return [];
  const place = placeOf(command, spec, words.slice(1));
  const equals = /^(--[\w-]+)=(.*)$/.exec(current);
  const named = equals && flagsOf(spec).get(equals[1] as string);
  const found = named
    ? (await valuesOf(place, named, equals[2] as string)).map((one) => ({ ...one, value: `${equals[1]}=${one.value}` }))
    : await atCursor(place, current);
  return found.filter(({ value }) => value.startsWith(current)).slice(0, most);
}

const flagsOf = (spec: CommandSpec): Map<string, OptionSpec> =>
  new Map(allOptions(spec).flatMap((option) => option.flags.map((flag) => [flag, option])));

function placeOf(command: string, spec: CommandSpec, words: readonly string[]): Place {
  const flags = flagsOf(spec);
  const [args, options] = [[] as string[], new Map<string, string>()];
  let waiting: OptionSpec | undefined;
  for (const word of words) {
    if (waiting) {
      options.set(waiting.dest, word);
      waiting = undefined;
      continue;
    }
    const [flag = '', value] = word.startsWith('--') ? word.split(/=(.*)/s, 2) : [word];
    const option = word.startsWith('-') ? flags.get(flag) : undefined;
    if (!option) {
      if (!word.startsWith('-')) args.push(word);
    } else if (value !== undefined) options.set(option.dest, value);
    else if (takesValue(option) && !option.optionalValue) waiting = option;
    else options.set(option.dest, '');
  }
  return { command, spec, args, options, waiting };
}

async function atCursor(place: Place, current: string): Promise<Candidate[]> {
  const { command, spec, args, waiting } = place;
  if (waiting) return valuesOf(place, waiting, current);
  if (current.startsWith('-')) {
    return allOptions(spec).flatMap(({ flags, help }) =>
      flags.map((value) => ({ value, about: (help.split('\n', 1)[0] ?? '').slice(0, 100) })),
    );
  }
  if (command === 'halite') return args.length === 0 ? named([...verbs].sort()) : afterVerb(place, args);
  if (command === 'salt-cp') return args.length === 0 ? targets(place, current) : [];
  const kind = functionKinds[command];
  if (kind === undefined) return [];
  const skipped = before[command] ?? 0;
  if (args.length < skipped) return targets(place, current);
  const opts = optsOf(command, configDir(place));
  const [fun, ...given] = args.slice(skipped);
  return fun === undefined ? functions(kind, current, opts) : parameters(kind, fun, given, opts);
}

const named = (values: Iterable<string>): Candidate[] => [...values].map((value) => ({ value }));

/** Second words of `halite` that are always the same. */
const second: Readonly<Record<string, readonly string[]>> = {
  completion: ['bash', 'zsh', 'fish'],
  migrate: ['check', 'run', 'back', 'done'],
  cluster: ['init', 'nats', 'join'],
  drill: ['kill-master'],
  'ssh-runtime': ['add'],
};

async function afterVerb(place: Place, [verb = '', ...more]: readonly string[]): Promise<Candidate[]> {
  if (verb === 'config') {
    const { masterOptions, minionOptions } = await import('../../base/config/options/index.ts');
    const names = new Set([...masterOptions.keys(), ...minionOptions.keys()]);
    return named([...names].filter((name) => !more.includes(name)).sort());
  }
  if (more.length > 0) return [];
  if (verb === 'explain') return minionIds(optsOf('halite', configDir(place)), ['accepted']);
  return named(second[verb] ?? []);
}

const configDir = ({ options }: Place): string => configDirOf(options.get('config_dir'), process.env);

async function targets(place: Place, current: string): Promise<Candidate[]> {
  const opts = optsOf(place.command, configDir(place));
  if (place.options.has('nodegroup')) return nodeGroups(opts);
  const isOther = ['pcre', 'grain', 'grain_pcre', 'pillar_target', 'pillar_pcre', 'ipcidr', 'range', 'compound'];
  if (isOther.some((dest) => place.options.has(dest))) return [];
  // In a list, the last one is completed.
  const head = place.options.has('list') ? current.slice(0, current.lastIndexOf(',') + 1) : '';
  const ids = (await minionIds(opts, ['accepted'])).filter(({ value }) => isValidMinionId(value));
  return ids.map(({ value }) => ({ value: `${head}${value}` }));
}

async function valuesOf(place: Place, option: OptionSpec, current: string): Promise<Candidate[]> {
  if (option.choices) return option.choices.map((value) => ({ value }));
  if (option.dest === 'output') return Object.keys(builtin.outputters ?? {}).map((value) => ({ value }));
  const states = place.command === 'salt-key' ? keyOptions[option.dest] : undefined;
  if (states) return minionIds(optsOf(place.command, configDir(place)), states);
  if (option.dest === 'nodegroup' || option.dest === 'list') return targets(place, current);
  return [];
}
