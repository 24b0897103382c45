// What a tab and the worker of all tabs tell each other.
import { fieldsOf, textOf } from '../api/read.ts';
import type { LinkState, Topics } from './stream.ts';

export type Told =
  /** `lock` is held by the tab as long as it lives. */
  | { readonly do: 'open'; readonly base: string; readonly lock: string }
  | { readonly do: 'topics'; readonly topics: Topics }
  | { readonly do: 'restart' }
  | { readonly do: 'close' };

export type Said =
  | { readonly say: 'message'; readonly value: unknown }
  | { readonly say: 'state'; readonly state: LinkState };

const topicsOf = (value: unknown): Topics =>
  Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, options]) => [name, fieldsOf(options)]));

export function readTold(value: unknown): Told | undefined {
  const fields = fieldsOf(value);
  const what = fields['do'];
  if (what === 'open') return { do: what, base: textOf(fields['base']), lock: textOf(fields['lock']) };
  if (what === 'topics') return { do: what, topics: topicsOf(fields['topics']) };
  return what === 'restart' || what === 'close' ? { do: what } : undefined;
}

const states: readonly LinkState[] = ['connecting', 'open', 'lost', 'polling', 'refused'];

export function readSaid(value: unknown): Said | undefined {
  const fields = fieldsOf(value);
  if (fields['say'] === 'message') return { say: 'message', value: fields['value'] };
  const state = states.find((name) => name === fields['state']);
  return fields['say'] === 'state' && state ? { say: 'state', state } : undefined;
}
