// What every message reader and writer shares: why a message is refused, and which fields have a value.
import { type Dict, newDict, type Value } from '../../../base/codec/value.ts';

/** Why a message is refused. `reply` is the plain text with which Salt answers. */
export interface Problem {
  readonly problem: string;
  readonly reply: string;
}

export function problem(text: string, reply = 'bad load'): Problem {
  return { problem: text, reply };
}

export function isProblem(value: object): value is Problem {
  return 'problem' in value && 'reply' in value;
}

/** Only the fields of the type, without undefined ones: absent and undefined are the same on the wire. */
export function dense(fields: Readonly<Record<string, Value | undefined>>): Dict {
  const dict = newDict();
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) dict[key] = value;
  return dict;
}

/** The fields that have a value: an absent field of a message is absent in the result too. */
export function given<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const found: { [Key in keyof T]?: Exclude<T[Key], undefined> } = {};
  for (const key in fields) {
    const value = fields[key] as Exclude<T[typeof key], undefined>;
    if (value !== undefined) found[key] = value;
  }
  return found;
}
