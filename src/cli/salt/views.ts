// How the items of a job are printed: as they arrive, all together, by equal answers, or in batches.

import { pyRepr } from '../../base/codec/python/repr.ts';
import { dictOf, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { JobItem } from '../../engine/client/api.ts';
import type { Terminal } from '../io.ts';
import type { Display } from '../output.ts';
import { missingText, reasonData, withReasons } from './missing.ts';
import type { MissingItem, QueuedItem, ReturnItem, Tally } from './tally.ts';

export interface ViewOptions {
  readonly display: Display;
  readonly io: Terminal;
  readonly verbose: boolean;
  readonly showJid: boolean;
  /** List minions without an answer. */
  readonly showMissing: boolean;
  readonly explain: boolean;
  /** The outputter is machine-readable, so reasons are added as data. */
  readonly structured: boolean;
}

/** One way to print a job. `item` is called for every item, `end` once. */
export interface JobView {
  item(item: JobItem, tally: Tally): Promise<void> | void;
  end(tally: Tally): Promise<void> | void;
}

export const untilText = (item: QueuedItem): string => {
  const until = new Date(item.until).toISOString().replace('T', ' ').slice(0, 19);
  return `The job waits for this minion until ${until} UTC.`;
};

function header(options: ViewOptions, jid: string): void {
  if (jid === '') return;
  if (options.verbose) {
    const line = `Executing job with jid ${jid}`;
    options.io.out(`${line}\n${'-'.repeat(line.length)}\n\n`);
  } else if (options.showJid) options.io.out(`jid: ${jid}\n`);
}

/** A reason as lines of text, or as data next to the answer. */
function missingAnswer(item: MissingItem, tally: Tally, options: ViewOptions): Value {
  const asData = options.explain && options.structured;
  const text = missingText(item, tally.jid, options.explain && !asData);
  const reasons = asData ? new Map([[item.id, reasonData(item.reason)]]) : new Map<string, PlainDict>();
  return withReasons([[item.id, text]], reasons);
}

/** A kept job as data: why the minion did not get it, and until when it waits. */
const queuedData = (item: QueuedItem): PlainDict =>
  newDict([...Object.entries(reasonData(item.reason)), ['queued_until', item.until]]);

function queuedAnswer(item: QueuedItem, options: ViewOptions): Value {
  const asData = options.explain && options.structured;
  return withReasons([[item.id, untilText(item)]], asData ? new Map([[item.id, queuedData(item)]]) : new Map());
}

/** The default: every answer as soon as it arrives. */
export function streamView(options: ViewOptions): JobView {
  const { display } = options;
  return {
    async item(item, tally) {
      if (item.type === 'job') header(options, item.jid);
      else if (item.type === 'return') await display.show(dictOf([[item.id, item.ret]]), item.out, item.retcode);
      else if (item.type === 'queued') await display.show(queuedAnswer(item, options), 'no_return', 1);
      else if (item.type === 'missing' && options.showMissing) {
        await display.show(missingAnswer(item, tally, options), 'no_return', 1);
      }
    },
    end() {},
  };
}

/** --static: one document with all answers; minions without one are listed on stderr. */
export function staticView(options: ViewOptions): JobView {
  const answers: [string, Value][] = [];
  const reasons = new Map<string, PlainDict>();
  const notices: string[] = [];
  return {
    item(item, tally) {
      if (item.type === 'return') answers.push([item.id, item.ret]);
      if (item.type === 'queued') {
        notices.push(`${item.id}: ${untilText(item)}`);
        if (options.explain) reasons.set(item.id, queuedData(item));
      }
      if (item.type !== 'missing') return;
      if (options.explain) reasons.set(item.id, reasonData(item.reason));
      if (options.showMissing)
        notices.push(`${item.id}: ${missingText(item, tally.jid, false).split('\n').slice(0, 2).join(' ')}`);
    },
    async end() {
      await options.display.show(withReasons(answers, reasons));
      for (const notice of notices) options.io.err(`${notice}\n`);
    },
  };
}

/** Reasons of minions to which a batch was never sent. */
const notSent = new Set(['failhard', 'cancelled']);

/** -b: which minions run now, then each answer with its jid and return code. */
export function batchView(options: ViewOptions): JobView {
  const { display, io } = options;
  const notice = (item: MissingItem): string => {
    const salts =
      item.connected && !notSent.has(item.reason.code)
        ? `Minion '${item.id}' failed to respond to job sent`
        : `Minion ${item.id} did not respond. No job will be sent.`;
    return item.reason.text ? `${salts}\n    ${item.reason.text}\n` : `${salts}\n`;
  };
  return {
    async item(item) {
      if (item.type === 'batch') io.out(`\nExecuting run on ${pyRepr([...item.minions].sort())}\n\n`);
      else if (item.type === 'return') {
        const row = newDict([
          ['retcode', item.retcode],
          ['jid', item.jid ?? ''],
        ]);
        await display.show(dictOf([...Object.entries(row), [item.id, item.ret]]), item.out);
      } else if (item.type === 'missing' && options.showMissing) io.out(notice(item));
      else if (item.type === 'queued') io.out(`${item.id}: ${untilText(item)}\n`);
    },
    end() {},
  };
}

/** sys.doc: the documentation of each function once, from any minion. */
export function docsView(options: ViewOptions, outputterGiven: boolean): JobView & { readonly count: number } {
  const docs = new Map<string, Value>();
  const view = {
    count: 0,
    item(item: JobItem): void {
      if (item.type !== 'return') return;
      const entries = docEntries(item);
      view.count++;
      for (const [fun, doc] of entries) if (doc && !docs.has(fun)) docs.set(fun, doc);
    },
    async end(): Promise<void> {
      for (const fun of [...docs.keys()].sort()) {
        if (outputterGiven) await options.display.show(dictOf([[fun, docs.get(fun)!]]), 'nested');
        else options.io.out(`${fun}:\n${String(docs.get(fun))}\n\n`);
      }
    },
  };
  return view;
}

function docEntries(item: ReturnItem): [string, Value][] {
  if (item.ret === null || typeof item.ret !== 'object' || Array.isArray(item.ret)) return [];
  return item.ret instanceof Map
    ? [...item.ret].map(([key, value]) => [String(key), value])
    : (Object.entries(item.ret) as [string, Value][]);
}
