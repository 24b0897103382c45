// The options of a returner, searched where Salt searches them: configuration, grains, pillar, profiles, the command
// line.
import { dictGet, fieldOf, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { nearest } from '../../../base/util/nearest.ts';
import type { Param, Returner } from '../../../extend/sdk/index.ts';
import { coerce, defaultOf } from '../coerce.ts';

/** The sources of options, and those given with the job. */
export interface OptionSources {
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: PlainDict;
  readonly pillar: PlainDict;
  /** `--return_config`: the first word of another set of options. */
  readonly config?: string;
  /** `--return_kwargs`: options for this one job. */
  readonly kwargs?: PlainDict;
}

export interface ResolvedOptions {
  readonly values: Readonly<Record<string, unknown>>;
  /** Those whose values the job gave. */
  readonly fromJob: ReadonlySet<string>;
  /** Unknown options, as texts for a log. */
  readonly warnings: readonly string[];
}

/** An empty text or None means "not set", as in Salt; false and 0 are values. */
const isGiven = (value: Value | undefined): value is Value => value !== undefined && value !== null && value !== '';

const ownGet = (source: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  source instanceof Map ? (source as Map<Value, Value>).get(key) : Object.hasOwn(source, key) ? source[key] : undefined;

/** `config.option`: the minion's options, grains, pillar, and the master's options in the pillar, in this order. */
function configOption(sources: OptionSources, key: string): Value | undefined {
  const master = dictGet(sources.pillar, 'master');
  for (const place of [sources.opts, sources.grains, sources.pillar, master]) {
    if (!isDict(place)) continue;
    const value = ownGet(place as Record<string, Value>, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** `mysql: {host: …}`, then `mysql.host`. */
function atPrefix(sources: OptionSources, prefix: string, name: string): Value | undefined {
  const nested = configOption(sources, prefix);
  const inside = fieldOf(nested, name);
  return inside !== undefined ? inside : configOption(sources, `${prefix}.${name}`);
}

/** Salt's own returners differ in whether the word `returner.` comes first: both forms are accepted. */
function prefixesOf(returner: Returner): string[] {
  const name = returner.optionPrefix ?? returner.virtualName ?? returner.name;
  return name.startsWith('returner.') ? [name, name.slice('returner.'.length)] : [name, `returner.${name}`];
}

function lookUp(sources: OptionSources, prefixes: readonly string[], name: string): Value | undefined {
  const places = sources.config ? prefixes.map((prefix) => `${sources.config}.${prefix}`) : [];
  for (const place of [...places, ...prefixes]) {
    const value = atPrefix(sources, place, name);
    if (isGiven(value)) return value;
  }
  return undefined;
}

/** `slack.profile: work` and `work: {slack.channel: …}`. */
function fromProfile(sources: OptionSources, prefixes: readonly string[], profile: Value | undefined, name: string) {
  const place = typeof profile === 'string' && profile !== '' ? configOption(sources, profile) : undefined;
  if (!isDict(place)) return undefined;
  const keys = [...prefixes.map((prefix) => `${prefix}.${name}`), name];
  return keys.map((key) => dictGet(place, key)).find(isGiven);
}

function checked(label: string, name: string, param: Param, value: Value): Value {
  try {
    // Operators of Salt write the word None to unset an option.
    const given = typeof value === 'string' && /^none$/i.test(value) && !param.required ? null : value;
    return given === null ? defaultOf(param) : coerce(label, name, param, given);
  } catch (error) {
    const problem = /must be .*$/s.exec(messageOf(error))?.[0] ?? messageOf(error);
    throw new HaliteError('config.value', `The option ${label}.${name} ${problem}`);
  }
}

/** Every declared option with its value. Throws config.value for a wrong type or a missing required one. */
export function resolveOptions(returner: Returner, sources: OptionSources): ResolvedOptions {
  const prefixes = prefixesOf(returner);
  const label = prefixes[0]!;
  const values: Record<string, unknown> = Object.create(null);
  const fromJob = new Set<string>();
  const names = (name: string, param: Param) => [name, ...param.aliases];
  const profile = Object.hasOwn(returner.options, 'profile') ? lookUp(sources, prefixes, 'profile') : undefined;
  for (const [name, param] of Object.entries(returner.options)) {
    if (param.kind === 'rest' || param.kind === 'kwargs') continue;
    const ofJob = firstGiven(names(name, param), [
      (key) => (sources.kwargs ? dictGet(sources.kwargs, key) : undefined),
    ]);
    if (ofJob !== undefined) fromJob.add(name);
    const configured = firstGiven(names(name, param), [
      (key) => fromProfile(sources, prefixes, profile, key),
      (key) => lookUp(sources, prefixes, key),
    ]);
    const given = ofJob ?? configured;
    if (given === undefined && param.required) {
      throw new HaliteError('config.value', `The returner ${returner.name} needs the option ${label}.${name}`);
    }
    values[name] = given === undefined ? defaultOf(param) : checked(label, name, param, given);
  }
  return { values, fromJob, warnings: unknownOptions(returner, sources, prefixes) };
}

function firstGiven(keys: readonly string[], places: readonly ((key: string) => Value | undefined)[]) {
  for (const place of places) {
    for (const key of keys) {
      const value = place(key);
      if (isGiven(value)) return value;
    }
  }
  return undefined;
}

/**
 * Mistyped names. In the configuration only those similar to a known one: `mysql.…` also contains options of the
 * execution module of the same name.
 */
function unknownOptions(returner: Returner, sources: OptionSources, prefixes: readonly string[]): string[] {
  const known = Object.entries(returner.options).flatMap(([name, param]) => [name, ...param.aliases]);
  const isKnown = (name: string) => known.includes(name);
  const warnings: string[] = [];
  for (const name of Object.keys(sources.kwargs ?? {})) {
    if (isKnown(name)) continue;
    const near = nearest(name, known);
    warnings.push(
      `The returner ${returner.name} has no option '${name}'${near ? `; did you mean '${near}'?` : ` (there are: ${known.join(', ')})`}`,
    );
  }
  const profiles = sources.config ? prefixes.map((prefix) => `${sources.config}.${prefix}`) : [];
  const marked = new Set([...prefixes, ...profiles]);
  for (const [full, name] of writtenNames(sources.opts, marked)) {
    const near = isKnown(name) ? undefined : nearest(name, known);
    if (near && !isGiven(configOption(sources, full.slice(0, -name.length) + near))) {
      warnings.push(`The option ${full} is not known; did you mean '${near}'?`);
    }
  }
  return warnings;
}

/** Names below a prefix, flat or nested: full name and last part. */
function* writtenNames(
  opts: Readonly<Record<string, Value>>,
  prefixes: ReadonlySet<string>,
): Generator<[string, string]> {
  for (const prefix of prefixes) {
    const nested = ownGet(opts, prefix);
    if (isDict(nested)) for (const key of Object.keys(nested)) yield [`${prefix}.${key}`, key];
    const start = `${prefix}.`;
    for (const key of Object.keys(opts)) {
      const name = key.startsWith(start) ? key.slice(start.length) : '';
      if (name !== '' && !name.includes('.')) yield [key, name];
    }
  }
}

/** Options a job gave, in the form of `OptionSources`. */
export function jobOptions(
  config: Value | undefined,
  kwargs: Value | undefined,
): { config?: string; kwargs?: PlainDict } {
  return {
    ...(typeof config === 'string' && config !== '' ? { config } : {}),
    ...(isDict(kwargs) ? { kwargs: newDict(Object.entries(kwargs)) } : {}),
  };
}
