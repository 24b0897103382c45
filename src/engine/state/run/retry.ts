// `retry`: how often and when a state is retried, and the combined result of all attempts.
import { setTimeout as sleep } from 'node:timers/promises';
import { isTruthy, pyStr } from '../../../base/codec/python/index.ts';
import { type Dict, dictGet, isDict, type PlainDict, pyFloat, type Value } from '../../../base/codec/value.ts';
import type { ExtensionLog } from '../../../extend/sdk/index.ts';
import { unifyResult } from './unify.ts';

export interface Retry {
  readonly until: boolean;
  readonly attempts: number;
  readonly splay: number;
  readonly interval: number;
}

const defaults: Retry = { until: true, attempts: 2, splay: 0, interval: 30 };

/** The settings as written, with defaults for what is missing or of the wrong kind. */
export function readRetry(value: Value, log: ExtensionLog): Retry {
  if (value === false) return { ...defaults, attempts: 0 };
  if (isDict(value)) return fromDict(value, log);
  if (value !== true) {
    log.warn(
      'State is set to retry, but retry: True or a valid dict for retry configuration was not found. Using retry defaults',
    );
  }
  return defaults;
}

function fromDict(dict: Dict, log: ExtensionLog): Retry {
  const wrong = (key: string): void =>
    log.warn(
      `An invalid value was passed for the retry ${key}, using default value '${String(defaults[key as keyof Retry])}'`,
    );
  const whole = (key: 'attempts' | 'splay' | 'interval'): number => {
    const given = dictGet(dict, key);
    if (given === undefined) return defaults[key];
    // Python: True is an integer too.
    if (typeof given === 'boolean') return Number(given);
    if (typeof given === 'number' && Number.isInteger(given)) return given;
    wrong(key);
    return defaults[key];
  };
  const until = dictGet(dict, 'until');
  if (until !== undefined && typeof until !== 'boolean') wrong('until');
  return {
    until: typeof until === 'boolean' ? until : defaults.until,
    attempts: whole('attempts'),
    splay: whole('splay'),
    interval: whole('interval'),
  };
}

/** One attempt; whether another one could have another result. */
export interface Attempt {
  readonly result: PlainDict;
  readonly mayRepeat: boolean;
}

/** The data that determines the waiting. */
export interface RetryScene {
  readonly test: boolean;
  readonly signal: AbortSignal;
}

/** For a sequential state: the last result, after the comments of all attempts before it. */
export async function retryInOrder(
  first: PlainDict,
  retry: Retry,
  { test, signal }: RetryScene,
  again: () => Promise<Attempt>,
): Promise<PlainDict> {
  if (test) {
    // The comments of conditions are a list here; Salt shows it as such.
    const comment = isTruthy(first['comment'] ?? '') ? pyStr(first['comment']) : '';
    return announced(first, comment, retry);
  }
  const made = await attempts(first, retry, retry.attempts, signal, again);
  return joined(made, ({ comment }) => {
    const before = made.slice(0, -1).map(({ result }, at) => attemptText(at + 1, result, pyStr(result['comment'])));
    return [...before, isTruthy(comment ?? '') ? pyStr(comment) : ''].join('\n');
  });
}

/** For a parallel state. Salt counts the first attempt separately there, and reports the later ones. */
export async function retryBeside(
  first: PlainDict,
  retry: Retry,
  { test, signal }: RetryScene,
  again: () => Promise<Attempt>,
): Promise<PlainDict> {
  if (test) return announced(first, commentText(first), retry);
  const made = await attempts(first, retry, retry.attempts + 1, signal, again);
  return joined(made, () =>
    made
      .map(({ result }, at) => {
        const comment = commentText(result);
        return at === 0 || comment === '' ? comment : attemptText(at, result, comment);
      })
      .join('\n'),
  );
}

interface Timed {
  readonly result: PlainDict;
  /** Milliseconds between the attempt before and this one. */
  readonly waitedMs: number;
}

/** All results until one is as wanted, or `most` attempts were made. */
async function attempts(
  first: PlainDict,
  retry: Retry,
  most: number,
  signal: AbortSignal,
  again: () => Promise<Attempt>,
): Promise<Timed[]> {
  const made: Timed[] = [{ result: first, waitedMs: 0 }];
  let last: Attempt = { result: first, mayRepeat: true };
  while (last.mayRepeat && last.result['result'] !== retry.until && made.length < most) {
    const interval = nextInterval(retry);
    await sleep(Math.max(0, interval) * 1000, undefined, { signal });
    last = await again();
    made.push({ result: last.result, waitedMs: interval * 1000 });
  }
  return made;
}

/** The last result as the combined result: all comments, the total duration, the start of the first. */
function joined(made: readonly Timed[], comment: (last: PlainDict) => string): PlainDict {
  const first = made[0]!.result;
  if (made.length === 1) return first;
  const durationMs = made.reduce((sum, { result, waitedMs }) => sum + Number(result['duration']) + waitedMs, 0);
  const last = unifyResult(made.at(-1)!.result);
  last['comment'] = comment(last);
  last['duration'] = pyFloat(durationMs);
  last['start_time'] = first['start_time']!;
  return last;
}

const attemptText = (attempt: number, result: PlainDict, comment: string): string =>
  `Attempt ${attempt}: Returned a result of "${pyStr(result['result'] ?? null)}", with the following comment: "${comment}"`;

function commentText({ comment }: PlainDict): string {
  return Array.isArray(comment) ? comment.map(pyStr).join('\n') : pyStr(comment ?? '');
}

/** Seconds until the next attempt. */
function nextInterval({ interval, splay }: Retry): number {
  return splay > 0 ? interval + Math.floor(Math.random() * (splay + 1)) : interval;
}

/** The comment under `test=True`. */
function announced(result: PlainDict, comment: string, { interval, splay, attempts: most, until }: Retry): PlainDict {
  result['comment'] =
    `${comment}  The state would be retried every ${interval} seconds (with a splay of up to ${splay} seconds) ` +
    `a maximum of ${most} times or until a result of ${until ? 'True' : 'False'} is returned`;
  return result;
}
