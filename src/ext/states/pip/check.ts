// Decides which of the requested packages are already installed.
import { asList, newDict, type PlainDict, pyStr, type StateContext, textKeyed, type Value } from 'halite/sdk';
import { type Condition, comparePythonVersions, fitsConditions } from '../../shared/pip/pep440.ts';

export interface Wanted {
  /** The package's name; empty when it is only known after the installation. */
  readonly name: string;
  /** As written. */
  readonly text: string;
  readonly conditions: readonly Condition[];
}

/** Arguments that decide whether an installed package is kept. */
export interface Rules {
  readonly ignore_installed: boolean;
  readonly force_reinstall: boolean;
  readonly upgrade: boolean;
  readonly index_url: Value;
  readonly extra_index_url: Value;
}

/** Keywords for the pip program and its user. */
export type Whereabouts = PlainDict;

/** The version of a package in pip's list; the name is case-insensitive. */
export function versionOf(list: PlainDict, name: string): string | undefined {
  const key = Object.keys(list).find((item) => item.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : pyStr(list[key] ?? '');
}

async function newest(wanted: Wanted, rules: Rules, at: Whereabouts, ctx: StateContext): Promise<string | undefined> {
  const named = (part: string): boolean => wanted.conditions.some(({ version }) => version.includes(part));
  const { env_vars: _vars, ...place } = at;
  const available = await ctx.callWith(
    'pip.list_all_versions',
    [wanted.name],
    newDict([
      ...Object.entries(place),
      ['include_alpha', named('a')],
      ['include_beta', named('b')],
      ['include_rc', named('rc')],
      ['index_url', rules.index_url],
      ['extra_index_url', rules.extra_index_url],
    ]),
  );
  return (asList(available) ?? [])
    .map(pyStr)
    .findLast((version) => (wanted.conditions.length > 0 ? fitsConditions(version, wanted.conditions) : true));
}

/** The comment for a package that needs nothing; undefined when it is to be installed. */
export async function settled(
  wanted: Wanted,
  rules: Rules,
  installed: PlainDict | undefined,
  at: Whereabouts,
  ctx: StateContext,
): Promise<string | undefined> {
  const list = installed ?? textKeyed(await ctx.callWith('pip.list', [wanted.name], at));
  const version = rules.ignore_installed ? undefined : versionOf(list, wanted.name);
  if (version === undefined || rules.force_reinstall) return undefined;
  const there = `Python package ${wanted.text} was already installed`;
  if (!rules.upgrade) return fitsConditions(version, wanted.conditions) ? there : undefined;
  const best = await newest(wanted, rules, at, ctx);
  if (best === undefined)
    return `Python package ${wanted.name} was already installed and\nthe available upgrade doesn't fulfills the version requirements`;
  return comparePythonVersions(version, best) === 0 ? there : undefined;
}
