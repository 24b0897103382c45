// Messages of the live stream: JSON arrays whose first item is their kind. Whatever does not fit is left out.
import { countsOf, type Fields, fieldsOf, listOf, numberOf, textOf } from '../api/read.ts';

type Cell = readonly [row: number, col: number, value: unknown];
type Change = readonly [index: number, code: string];
type Balance = Readonly<Record<string, number>>;

export type LiveMessage =
  | {
      readonly kind: 'fleet';
      readonly topic: string;
      readonly cells: readonly Cell[];
      readonly gone: readonly number[];
      readonly total: number;
    }
  | { readonly kind: 'summary'; readonly counts: Fields }
  | { readonly kind: 'job'; readonly jid: string; readonly load: Fields; readonly verdicts: string }
  | {
      readonly kind: 'verdicts';
      readonly jid: string;
      readonly seq: number;
      readonly changes: readonly Change[];
      readonly balance: Balance;
    }
  | { readonly kind: 'output'; readonly jid: string; readonly index: number; readonly text: string }
  | { readonly kind: 'end'; readonly jid: string; readonly balance: Balance; readonly ms: number | undefined }
  | { readonly kind: 'keys'; readonly counts: Balance }
  | { readonly kind: 'event'; readonly tag: string; readonly data: unknown; readonly id: string }
  /** Events were lost (undefined: nobody knows how many), or the topic starts anew. */
  | { readonly kind: 'gap'; readonly topic: string; readonly lost: number | undefined }
  | { readonly kind: 'refused'; readonly topic: string; readonly text: string };

const cellOf = (value: unknown): readonly Cell[] => {
  const [row, col, content] = listOf(value);
  return typeof row === 'number' && typeof col === 'number' ? [[row, col, content]] : [];
};

const changeOf = (value: unknown): readonly Change[] => {
  const [index, code] = listOf(value);
  return typeof index === 'number' && typeof code === 'string' ? [[index, code]] : [];
};

const readers: Readonly<Record<string, (items: readonly unknown[]) => LiveMessage>> = {
  f: ([, , cells, gone, total, topic]) => ({
    kind: 'fleet',
    topic: textOf(topic),
    cells: listOf(cells).flatMap(cellOf),
    gone: listOf(gone).flatMap((row) => (typeof row === 'number' ? [row] : [])),
    total: numberOf(total) ?? 0,
  }),
  s: ([, counts]) => ({ kind: 'summary', counts: fieldsOf(counts) }),
  j: ([, jid, load, verdicts]) => ({
    kind: 'job',
    jid: textOf(jid),
    load: fieldsOf(load),
    verdicts: textOf(verdicts),
  }),
  v: ([, jid, seq, changes, balance]) => ({
    kind: 'verdicts',
    jid: textOf(jid),
    seq: numberOf(seq) ?? 0,
    changes: listOf(changes).flatMap(changeOf),
    balance: countsOf(balance),
  }),
  o: ([, jid, index, text]) => ({ kind: 'output', jid: textOf(jid), index: numberOf(index) ?? -1, text: textOf(text) }),
  e: ([, jid, balance, ms]) => ({ kind: 'end', jid: textOf(jid), balance: countsOf(balance), ms: numberOf(ms) }),
  k: ([, , counts]) => ({ kind: 'keys', counts: countsOf(counts) }),
  t: ([, tag, data, id]) => ({ kind: 'event', tag: textOf(tag), data, id: textOf(id) }),
  g: ([, topic, lost]) => ({ kind: 'gap', topic: textOf(topic), lost: numberOf(lost) }),
  x: ([, topic, , text]) => ({ kind: 'refused', topic: textOf(topic), text: textOf(text) }),
};

export function readMessage(value: unknown): LiveMessage | undefined {
  const items = listOf(value);
  const kind = textOf(items[0]);
  return Object.hasOwn(readers, kind) ? readers[kind]?.(items) : undefined;
}

/** Whether a message is for the subscription of this name. */
export function isFor(topic: string, message: LiveMessage): boolean {
  switch (message.kind) {
    case 'fleet':
    case 'gap':
    case 'refused':
      return message.topic === topic || (message.topic === 'events' && topic.startsWith('events:'));
    case 'summary':
    case 'keys':
      return topic === message.kind;
    case 'event':
      return topic.startsWith('events:');
    case 'output':
      return topic === `job:${message.jid}`;
    default:
      return topic === `job:${message.jid}` || topic === 'jobs';
  }
}
