// Requests to the minion about its beacons, and the form of the answers.
import { isTruthy, type ModuleContext, newDict, type PlainDict, pyStr, textKeyed, type Value } from 'halite/sdk';

export const answer = (comment: Value, result: boolean, more: Record<string, Value> = {}): PlainDict =>
  newDict(Object.entries({ comment, result, ...more }));

/** The minion's answer; undefined where no minion runs. */
export async function ask(ctx: ModuleContext, request: Record<string, Value>): Promise<PlainDict | undefined> {
  return ctx.minion.beacons?.(newDict(Object.entries(request)));
}

export interface ListOptions {
  readonly include_pillar?: boolean;
  readonly include_opts?: boolean;
}

/** Configured beacons by name. */
export async function listBeacons(ctx: ModuleContext, options: ListOptions = {}): Promise<PlainDict | undefined> {
  const { include_pillar = true, include_opts = true } = options;
  const told = await ask(ctx, { func: 'list', include_pillar, include_opts });
  return told && textKeyed(told['beacons']);
}

/** Settings of a beacon, which are a list of maps, as one map. */
export const settings = (beacon: Value | undefined): PlainDict =>
  Array.isArray(beacon) ? newDict(beacon.flatMap((item) => Object.entries(textKeyed(item)))) : textKeyed(beacon);

/** The lines of a configuration, for showing differences. */
export const linesOf = (beacon: Value | undefined): string[] =>
  (Array.isArray(beacon) ? beacon : [beacon ?? null]).flatMap((item) =>
    Object.entries(textKeyed(item)).map(([key, value]) => `${key}:${pyStr(value)}\n`),
  );

export const isTest = (given: PlainDict): boolean => isTruthy(given['test'] ?? null);
