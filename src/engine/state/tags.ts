// The key of a result: `state_|-id_|-name_|-function`.
import { pyStr } from '../../base/codec/python/index.ts';
import type { PlainDict } from '../../base/codec/value.ts';

/** The tag of a chunk. */
export function tagOf(low: Readonly<PlainDict>): string {
  return `${pyStr(low['state'])}_|-${pyStr(low['__id__'])}_|-${pyStr(low['name'])}_|-${pyStr(low['fun'])}`;
}

export interface TagParts {
  readonly state: string;
  readonly id: string;
  readonly name: string;
  readonly fun: string;
}

/** The parts of a tag; undefined for a text that is none. */
export function splitTag(tag: string): TagParts | undefined {
  const parts = tag.split('_|-');
  if (parts.length !== 4) return undefined;
  const [state, id, name, fun] = parts as [string, string, string, string];
  return { state, id, name, fun };
}
