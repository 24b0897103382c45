// What this member tells others that compare their history with its own: sums, the names of rows, and rows.
import { asDict, asList, dictGet, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { isJid } from '../../base/util/jid.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { ComparedStore, RowKey } from '../../store/jobs.ts';
import { isSpan, keyValue, nameValue, packRow, readKind, readName, talliedValue } from './repair-rows.ts';

export interface RepairAnswerParts {
  readonly cluster: Pick<Cluster, 'self' | 'signals'>;
  readonly store: Pick<ComparedStore, 'tallies' | 'keys' | 'rows'>;
}

const talliesAtOnce = 500;
export const keysAtOnce = 500;
/** Rows that may be asked for with one question. */
export const rowsAtOnce = 200;
const namesRead = 16;
/** Of one message; longer rows travel in pieces. */
const messageBytes = 256 * 1024;

const wrong = (): HaliteError => new HaliteError('call.arguments', 'the question is malformed');

export function answerRepair({ cluster, store }: RepairAnswerParts): void {
  cluster.signals.answer('digest', async function* (body): AsyncIterable<Value> {
    const dict = asDict(body);
    const [from, to, minutes] = ['from', 'to', 'minutes'].map((name) => dict && dictGet(dict, name));
    if (typeof from !== 'string' || !/^\d{0,10}$/.test(from) || !(to === '' || isSpan(to))) throw wrong();
    const found = await store.tallies(from, to === '' ? '' : to, minutes === true);
    // Its rows are still being counted: it is asked again.
    if (!found) yield false;
    for (let at = 0; at < (found?.length ?? 0); at += talliesAtOnce) {
      yield (found ?? []).slice(at, at + talliesAtOnce).map(talliedValue);
    }
  });

  cluster.signals.answer('items', async function* (body, _from, signal): AsyncIterable<Value> {
    const dict = asDict(body);
    const kind = readKind(dict && dictGet(dict, 'kind'));
    const span = dict && dictGet(dict, 'span');
    if (!kind || typeof span !== 'string' || !(isSpan(span) || isJid(span))) throw wrong();
    for (let last: RowKey | undefined; !signal.aborted; ) {
      const keys = await store.keys(kind, span, keysAtOnce, last);
      if (keys.length > 0) yield keys.map(keyValue);
      if (keys.length < keysAtOnce) return;
      last = keys.at(-1);
    }
  });

  cluster.signals.answer('result', async function* (body, _from, signal): AsyncIterable<Value> {
    const dict = asDict(body);
    const kind = readKind(dict && dictGet(dict, 'kind'));
    const names = asList(dict && dictGet(dict, 'rows'))?.map(readName);
    if (!kind || !names || names.length > rowsAtOnce || names.includes(undefined)) throw wrong();
    const wanted = names as Pick<RowKey, 'jid' | 'id'>[];
    let [message, bytes]: [Uint8Array[], number] = [[], 0];
    for (let at = 0; at < wanted.length && !signal.aborted; at += namesRead) {
      for (const row of await store.rows(kind, wanted.slice(at, at + namesRead))) {
        const packed = packRow(row, cluster.self.slot);
        if (message.length > 0 && bytes + packed.length > messageBytes) {
          yield message;
          [message, bytes] = [[], 0];
        }
        if (packed.length > messageBytes) yield* piecesOf(packed);
        else message.push(packed);
        bytes += packed.length;
      }
    }
    if (message.length > 0) yield message;
  });
}

export const namesValue = (rows: readonly RowKey[]): Value => rows.map(nameValue);

function* piecesOf(row: Uint8Array): Iterable<Value> {
  for (let at = 0; at < row.length; at += messageBytes) {
    yield { piece: row.subarray(at, at + messageBytes), of: row.length };
  }
}
