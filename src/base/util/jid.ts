// Job ids: twenty digits of UTC time in microseconds, unique within a process.
import { createHash } from 'node:crypto';
import { join } from 'node:path';

export interface JidOptions {
  /** Salt's `unique_jid`: append the process id. */
  readonly unique?: boolean;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
// Salt accepts any suffix; here a jid may become a file name, so only safe characters are accepted.
const form = /^\d{20}(?:_[\w.-]+)?$/;

/** Milliseconds of a monotonic clock; `performance` would do too, but every command would have to load it. */
function ticks(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1000 + nanos / 1e6;
}

let last = 0;
let offset = Date.now() - ticks();

/** Wall clock in microseconds; follows clock changes, but has a finer resolution than Date.now(). */
function nowMicros(): number {
  const wall = Date.now();
  const fine = offset + ticks();
  if (Math.abs(wall - fine) <= 2) return Math.floor(fine * 1000);
  offset = wall - ticks();
  return wall * 1000;
}

let slot: number | undefined;

/** A master of a cluster: from now on the last digit of each jid made here is its slot, so that no other makes it too. */
export function useSlot(own: number | undefined): void {
  slot = own;
}

/** The slot of the master that made a jid, when it is one of a cluster. */
export const slotOf = (jid: string): number => Number(jid[19]);

export function generateJid(options: JidOptions = {}): string {
  do {
    const next = Math.max(nowMicros(), last + 1);
    last = slot === undefined ? next : next + ((slot - (next % 10) + 10) % 10);
  } while (setAside.size > 0 && setAside.has(jidOf(last)));
  const jid = jidOf(last);
  return options.unique ? `${jid}_${process.pid}` : jid;
}

/** Jids of the near future that others made: this process does not generate them. */
const setAside = new Set<string>();
const mostSetAside = 10_000;
const mostAheadMs = 60_000;

/**
 * Whether a jid that another machine made may be used here: not when this process could still generate it. Clocks
 * differ, so that one of the next minute is set aside.
 */
export function takeJid(jid: string): boolean {
  const digits = jid.slice(0, 20);
  const now = generateJid();
  if (digits <= now || setAside.has(digits)) return true;
  const at = jidToMillis(digits);
  if (at === undefined || at > Date.now() + mostAheadMs) return false;
  if (setAside.size >= mostSetAside) for (const old of setAside) if (old <= now) setAside.delete(old);
  if (setAside.size >= mostSetAside) return false;
  setAside.add(digits);
  return true;
}

/** The jid of a time given in microseconds since 1970. */
export function jidOf(micros: number): string {
  const millis = Math.floor(micros / 1000);
  const text = new Date(millis).toISOString().replace(/\D/g, '');
  return text + String(micros - millis * 1000).padStart(3, '0');
}

export function isJid(jid: unknown): jid is string {
  return typeof jid === 'string' && form.test(jid);
}

/** `2018, Jul 19 15:58:34.031057`, or undefined for text that does not have the form of a jid. */
export function jidToTime(jid: string): string {
  if (!form.test(jid)) return '';
  const month = months[Number(jid.slice(4, 6)) - 1];
  if (!month) return '';
  const clock = `${jid.slice(8, 10)}:${jid.slice(10, 12)}:${jid.slice(12, 14)}.${jid.slice(14, 20)}`;
  return `${jid.slice(0, 4)}, ${month} ${jid.slice(6, 8)} ${clock}`;
}

/** When the job was started, in milliseconds since 1970; undefined for text that is not a jid. */
export function jidToMillis(jid: string): number | undefined {
  if (!form.test(jid)) return undefined;
  const day = `${jid.slice(0, 4)}-${jid.slice(4, 6)}-${jid.slice(6, 8)}`;
  const millis = Date.parse(
    `${day}T${jid.slice(8, 10)}:${jid.slice(10, 12)}:${jid.slice(12, 14)}.${jid.slice(14, 17)}Z`,
  );
  return Number.isNaN(millis) ? undefined : millis;
}

/** The job cache folder of a jid: two digits of its hash, then the rest. */
export function jidDir(jid: string, jobDir = '', hash = 'sha256'): string {
  const digest = createHash(hash).update(jid).digest('hex');
  return join(jobDir, digest.slice(0, 2), digest.slice(2));
}
