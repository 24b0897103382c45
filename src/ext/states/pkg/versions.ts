// Package names in states, and versions compared with conditions (`>=1.2,<2`).
import {
  dictEntries,
  invocationError,
  isDict,
  newDict,
  type PlainDict,
  pyRepr,
  pyStr,
  type StateContext,
  type Value,
} from 'halite/sdk';
import { matchesGlob } from 'halite/sdk/text';
import { hasFunction } from '../shared/calls.ts';

/** Package → requested version, null for any. */
export type Wanted = Map<string, string | null>;

async function normalized(name: string, normalize: boolean, ctx: StateContext): Promise<string> {
  return normalize && (await hasFunction(ctx, 'pkg.normalize_name'))
    ? pyStr(await ctx.call('pkg.normalize_name', name))
    : name;
}

/** `[vim, {nginx: 1.2}]` → names and versions. */
export async function wantedOf(pkgs: Value, normalize: boolean, ctx: StateContext): Promise<Wanted> {
  const wanted: Wanted = new Map();
  const list = Array.isArray(pkgs) ? pkgs : [pkgs];
  for (const item of list) {
    const pairs: [Value, Value][] = isDict(item) ? dictEntries(item) : [[item, null]];
    for (const [name, version] of pairs)
      wanted.set(await normalized(pyStr(name), normalize, ctx), version === null ? null : pyStr(version));
  }
  if (wanted.size !== list.length) {
    throw invocationError(
      `You are passing a list of packages that contains duplicated packages names: ${pyRepr(pkgs)}. This cannot be processed. In case you ` +
        'are targeting different versions of the same package, please target them individually',
    );
  }
  return wanted;
}

/** `[{vim: salt://vim.deb}]` → names and files; undefined for another form. */
export async function sourcesOf(sources: Value, normalize: boolean, ctx: StateContext): Promise<Wanted | undefined> {
  const wanted: Wanted = new Map();
  for (const item of Array.isArray(sources) ? sources : [sources]) {
    const pairs = isDict(item) ? dictEntries(item) : [];
    if (pairs.length !== 1) return undefined;
    const [name, file] = pairs[0] as [Value, Value];
    wanted.set(await normalized(pyStr(name), normalize, ctx), pyStr(file));
  }
  return wanted.size > 0 ? wanted : undefined;
}

interface Condition {
  readonly operator: string;
  readonly version: string;
}

/** `>=1.2, <2` → conditions. */
export function conditionsOf(text: string): Condition[] {
  if (text.trim() === '') return [];
  return text
    .trim()
    .split(',')
    .map((part) => {
      const match = /^(<=>|!=|>=|<=|>>|<<|<>|>|<|=)?\s?([^<>=]+)$/.exec(part.trim());
      const operator = match?.[1] ?? '';
      return { operator: operator === '=' || operator === '' ? '==' : operator, version: match?.[2] ?? part.trim() };
    });
}

const meaning: Readonly<Record<string, readonly number[]>> = {
  '<': [-1],
  '<=': [-1, 0],
  '==': [0],
  '>=': [0, 1],
  '>': [1],
};

async function fits(
  installed: string,
  { operator, version }: Condition,
  ignoreEpoch: Value,
  ctx: StateContext,
): Promise<boolean> {
  if (operator === '==' && matchesGlob(installed, version)) return true;
  const ignore = ignoreEpoch === null ? !/[<>]/.test(operator) && !version.includes(':') : Boolean(ignoreEpoch);
  const order = await ctx.callWith('pkg.version_cmp', [installed, version], { ignore_epoch: ignore });
  if (typeof order !== 'number') return false;
  if (operator === '!=') return order !== 0;
  return meaning[operator]?.includes(order) ?? false;
}

export interface FitOptions {
  readonly ignoreEpoch: Value;
  /** A newer version than the named one is accepted. */
  readonly allowUpdates?: boolean;
}

/** Whether one of the installed versions meets all conditions. */
export async function fulfills(
  installed: readonly string[],
  wanted: string,
  options: FitOptions,
  ctx: StateContext,
): Promise<boolean> {
  const conditions = conditionsOf(wanted);
  const relaxed = options.allowUpdates && conditions.length === 1 && conditions[0]?.operator === '==';
  for (const version of installed) {
    let all = true;
    for (const condition of conditions) {
      all &&= await fits(version, relaxed ? { ...condition, operator: '>=' } : condition, options.ignoreEpoch, ctx);
    }
    if (all) return true;
  }
  return false;
}

/** `vim`, `vim=1.2`, `vim>=1.2`: a request as text. */
export function spelled(name: string, wanted: Wanted): string {
  const version = wanted.get(name);
  if (!version) return name;
  return /^[<>=]/.test(version) ? `${name}${version}` : `${name}=${version}`;
}

/** Installed versions by package, whether given as lists or as text. */
export function versionsOf(packages: PlainDict, name: string): string[] {
  const found = packages[name];
  if (Array.isArray(found)) return found.map(pyStr);
  if (found === undefined || found === null || found === '') return [];
  return isDict(found) ? dictEntries(found).map(([version]) => pyStr(version)) : pyStr(found).split(',');
}

export const installList = (wanted: Wanted): PlainDict[] =>
  [...wanted].map(([name, version]) => newDict([[name, version]]));
