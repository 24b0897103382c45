// `retry`: how often and when a state is tried again.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dict, dictGet, isDict, type Value } from '../../../base/codec/value.ts';
import type { ExtensionLog } from '../../../extend/sdk/index.ts';

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

/** Seconds until the next attempt. */
export function nextInterval({ interval, splay }: Retry): number {
  return splay > 0 ? interval + Math.floor(Math.random() * (splay + 1)) : interval;
}

export async function waitFor(seconds: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, seconds) * 1000, undefined, { signal });
}

/** What `test=True` says about it. */
export function retryAnnouncement({ interval, splay, attempts, until }: Retry): string {
  return (
    `The state would be retried every ${interval} seconds (with a splay of up to ${splay} seconds) ` +
    `a maximum of ${attempts} times or until a result of ${until ? 'True' : 'False'} is returned`
  );
}
