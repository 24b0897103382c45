// Helpers for settings of beacons: maps of watched items, thresholds, error messages.

import { asNumber, isDict, textEntries, type Value } from 'halite/sdk';

/** The entries of a map; none for anything else. */
export const entriesOf = (value: Value | undefined): [string, Value][] =>
  value !== undefined && isDict(value) ? textEntries(value) : [];

/** `63%`, `63` or `63.5` as a number; undefined for anything else. */
export function percentOf(value: Value | undefined): number | undefined {
  const text = typeof value === 'string' ? value.replaceAll('%', '').trim() : undefined;
  const number = text === undefined ? asNumber(value ?? null) : text === '' ? Number.NaN : Number(text);
  return number === undefined || Number.isNaN(number) ? undefined : number;
}

/** The error for a setting that must be true or false; undefined when it is, or is not set. */
export function flagProblem(beacon: string, key: string, value: Value | undefined): string | undefined {
  if (value === undefined || typeof value === 'boolean') return undefined;
  return `Configuration for ${beacon} beacon option ${key} must be a boolean.`;
}
