// What the master says about a topic, as the messages of a live stream.
import { textField } from '../../base/codec/fields.ts';
import { asList, asPlainDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { jsonText } from './send.ts';

export type Message = Value[];

/** A message has at most this many bytes, apart from the verdicts of a very large job. */
const mostBytes = 48 * 1024;

export function fleetMessages(topic: string, item: PlainDict): Message[] {
  const page = asPlainDict(item['page']);
  if (!page) {
    const { version = 0, cells, gone = [], total = 0 } = item;
    return inParts(asList(cells) ?? []).map((part, at) => ['f', version, part, at === 0 ? gone : [], total, topic]);
  }
  const cells = (asList(page['rows']) ?? []).flatMap((row, at) =>
    (asList(row) ?? []).map((cell, column): Value => [at, column, cell]),
  );
  const parts = inParts(cells);
  return parts.map((part) => ['f', page['version'] ?? 0, part, [], page['total'] ?? 0, topic]);
}

/** At least one part, so that an empty list is told, too. */
function inParts(cells: readonly Value[]): Value[][] {
  const parts: Value[][] = [[]];
  let bytes = 0;
  for (const cell of cells) {
    bytes += jsonText(cell).length + 1;
    if (bytes > mostBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(cell);
  }
  return parts;
}

/** Arguments can be whole files. */
function shortLoad(load: PlainDict): PlainDict {
  if (jsonText(load).length <= mostBytes) return load;
  return newDict([...Object.entries(load), ['arg', ['…']], ['tgt', '…'], ['command', '…']]);
}

export function jobMessages(item: PlainDict, jid: string): Message[] {
  const own = textField(item, 'jid') ?? jid;
  switch (item['type']) {
    case 'job':
      return jobStart(item, own);
    case 'verdicts':
      return [['v', own, item['seq'] ?? 0, item['changes'] ?? [], item['balance'] ?? newDict()]];
    case 'output':
      return [['o', own, item['index'] ?? 0, item['text'] ?? '']];
    case 'end':
      return [['e', own, item['balance'] ?? newDict(), item['duration'] ?? 0]];
    default:
      return [];
  }
}

const notLoad = new Set(['type', 'verdicts', 'minions', 'balance']);

function jobStart(item: PlainDict, jid: string): Message[] {
  const load = asPlainDict(item['load']);
  // Of all jobs that are under way: without the verdicts of each minion.
  if (load)
    return [
      ['j', jid, shortLoad(load), ''],
      ['v', jid, 0, [], item['balance'] ?? newDict()],
    ];
  const ids = asList(item['minions']) ?? [];
  const own = newDict([
    ...Object.entries(item).filter(([name]) => !notLoad.has(name)),
    ['minions', ids.length] as [string, Value],
  ]);
  return [
    ['j', jid, shortLoad(own), item['verdicts'] ?? ''],
    ['v', jid, 0, [], item['balance'] ?? newDict()],
  ];
}

export function eventMessage(tag: string, data: Value, id: string): Message {
  const bytes = jsonText(data).length;
  return ['t', tag, bytes <= mostBytes ? data : newDict([['_truncated', bytes]]), id];
}
