// Rolling runs on the master: never more than the batch size at a time, every minion counted exactly once.
import type { PlainDict } from '../base/codec/value.ts';
import { HaliteError } from '../base/errors/index.ts';
import { generateJid } from '../base/util/jid.ts';
import type { JobItem } from '../engine/client/api.ts';
import { balanceOf, type Verdict } from '../protocol/job/verdict.ts';
import type { Master } from './core.ts';
import { followJob } from './job-stream.ts';
import { noMatchText, type PublishRequest, prepareJob } from './publish.ts';
import { reason } from './reasons.ts';
import { matchFleet } from './targets.ts';

export interface BatchOptions {
  /** A number, or a percentage of the matched. */
  readonly size: string;
  readonly waitSeconds: number;
  readonly failhard: boolean;
}

export function batchSize(text: string, total: number): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(%?)\s*$/.exec(text);
  const given = Number(match?.[1]);
  if (!match || !(given > 0)) {
    throw new HaliteError('cli.usage', `Invalid batch size '${text}'`, {
      hint: 'Give a number of minions (10) or a percentage (25%).',
    });
  }
  if (!match[2]) return Math.floor(given) || 1;
  const share = (given / 100) * total;
  // Salt: less than one minion rounds up, everything else down.
  return share < 1 ? 1 : Math.floor(share);
}

interface Slot {
  readonly id: string;
  readonly items: JobItem[];
}

/** Runs the job wave by wave; a slot that becomes free is filled at once (after `waitSeconds`). */
export async function* runBatch(
  master: Master,
  request: PublishRequest,
  options: BatchOptions,
  signal: AbortSignal,
): AsyncIterable<JobItem> {
  const { matched, unknown } = matchFleet(master, request.tgt, request.tgt_type, { delimiter: request.delimiter });
  const ids = [...matched, ...unknown];
  if (ids.length === 0) throw new HaliteError('target.empty', noMatchText);
  const size = batchSize(options.size, ids.length);
  const verdicts = new Map<string, Verdict>(ids.map((id) => [id, { kind: 'waiting' }]));
  const waiting = [...ids];
  const running = new Map<string, Promise<Slot>>();
  const jids = new Map<string, string>();
  yield { type: 'job', jid: '', minions: ids, missing: [] };
  let stopped = false;
  while ((waiting.length > 0 && !stopped) || running.size > 0) {
    if (signal.aborted) break;
    const free = stopped ? 0 : Math.min(size - running.size, waiting.length);
    if (free > 0) {
      const wave = waiting.splice(0, free);
      yield { type: 'batch', minions: wave };
      for (const [id, slot] of await startWave(master, request, wave, jids, signal)) running.set(id, slot);
    }
    const done = await Promise.race(running.values());
    running.delete(done.id);
    for (const item of done.items) {
      note(verdicts, item);
      if (item.type === 'return' && options.failhard && (item.retcode !== 0 || !item.success)) stopped = true;
      yield item;
    }
    if (options.waitSeconds > 0 && waiting.length > 0) await pause(options.waitSeconds * 1000, signal);
  }
  for (const id of waiting) {
    const why = reason('failhard', {});
    verdicts.set(id, { kind: 'missing', reason: why });
    if (stopped) yield { type: 'missing', id, reason: why, connected: true };
  }
  yield { type: 'end', balance: balanceOf(verdicts.values()) as unknown as PlainDict };
}

async function startWave(
  master: Master,
  request: PublishRequest,
  wave: readonly string[],
  jids: Map<string, string>,
  signal: AbortSignal,
): Promise<Map<string, Promise<Slot>>> {
  const job = prepareJob(master, { ...request, jid: generateJid(), tgt: wave, tgt_type: 'list' });
  const slots = new Map<string, Promise<Slot>>();
  const settle = new Map<string, (slot: Slot) => void>();
  for (const id of wave) {
    jids.set(id, job.jid);
    slots.set(id, new Promise((resolve) => settle.set(id, resolve)));
  }
  void (async () => {
    for await (const item of followJob(master, job, signal)) {
      if (item.type === 'return' || item.type === 'missing') settle.get(item.id)?.({ id: item.id, items: [item] });
    }
    for (const id of wave) settle.get(id)?.({ id, items: [] });
  })();
  return slots;
}

function note(verdicts: Map<string, Verdict>, item: JobItem): void {
  if (item.type === 'return') {
    const failed = item.retcode !== 0 || !item.success;
    verdicts.set(item.id, { kind: failed ? 'failed' : 'returned', retcode: item.retcode });
  } else if (item.type === 'missing') {
    verdicts.set(item.id, { kind: 'missing', reason: reason('silent', (item.reason.evidence ?? {}) as PlainDict) });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
