// Beacon `journald`: new entries of the journal that have the configured fields.

import { createInterface } from 'node:readline';
import { type BeaconContext, defineBeacon, isDict, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { type ChildProcess, spawn, which } from 'halite/sdk/system';
import { entriesOf } from './shared/settings.ts';

/** Fields that the journal's own library returns as numbers. */
const numbers = new Set(
  `PRIORITY LEADER SESSION_ID USERSPACE_USEC INITRD_USEC KERNEL_USEC _UID _GID _PID SYSLOG_FACILITY SYSLOG_PID
  _AUDIT_SESSION _AUDIT_LOGINUID _SYSTEMD_SESSION _SYSTEMD_OWNER_UID CODE_LINE ERRNO EXIT_STATUS
  _SOURCE_REALTIME_TIMESTAMP _SOURCE_MONOTONIC_TIMESTAMP __REALTIME_TIMESTAMP __MONOTONIC_TIMESTAMP`.split(/\s+/),
);
/** Maximum number of unread entries; beyond it the oldest are dropped. */
const mostEntries = 10_000;

/** One line of `journalctl -o json`; undefined when it is none. */
export function journalEntry(line: string): PlainDict | undefined {
  try {
    const fields = Object.entries(JSON.parse(line) as Record<string, Value>);
    return newDict(
      fields.map(([key, value]) => [
        key,
        typeof value === 'string' && numbers.has(key) && /^\d{1,15}$/.test(value) ? Number(value) : value,
      ]),
    );
  } catch {
    return undefined;
  }
}

/** The events of an entry: one for each service whose fields it has. */
export function matching(settings: PlainDict, entry: PlainDict): PlainDict[] {
  return entriesOf(settings['services']).flatMap(([tag, wanted]) => {
    const same = entriesOf(wanted).every(([key, value]) => {
      const found = entry[key];
      return found !== undefined && !Array.isArray(found) && pyStr(found) === pyStr(value);
    });
    return same ? [newDict([...Object.entries(entry), ['tag', tag]])] : [];
  });
}

function follow(program: string, settings: PlainDict, ctx: BeaconContext) {
  const waiting: PlainDict[] = [];
  let problem = '';
  const child: ChildProcess = spawn(program, ['--follow', '--lines=0', '--output=json', '--quiet'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: ctx.signal,
  });
  let ended: string | undefined;
  child.on('error', (error) => {
    ended = error.message;
  });
  child.on('close', (code) => {
    ended ??= `journalctl ended with status ${code}${problem ? `: ${problem}` : ''}`;
  });
  child.stderr?.on('data', (piece: Buffer) => {
    problem = piece.toString().trim().slice(-200);
  });
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = journalEntry(line);
      if (entry) waiting.push(...matching(settings, entry));
      if (waiting.length > mostEntries) waiting.splice(0, waiting.length - mostEntries);
    });
  return { waiting, child, ended: () => ended };
}

export default defineBeacon({
  name: 'journald',
  doc: 'Sends an event for new journal entries that have the given fields, under the configured name.',
  examples: ['journald:\n  - services:\n      sshd:\n        SYSLOG_IDENTIFIER: sshd\n        PRIORITY: 6'],
  available: () => which('journalctl') !== null || 'journalctl is missing.',
  validate: ({ services }) =>
    entriesOf(services).some(([, fields]) => !isDict(fields))
      ? 'Services configuration for journald beacon must be a list of dictionaries.'
      : undefined,
  open(settings, ctx) {
    const program = which('journalctl') ?? 'journalctl';
    let running = follow(program, settings, ctx);
    return {
      read() {
        const found = running.waiting.splice(0);
        const ended = running.ended();
        if (ended === undefined || found.length > 0) return found;
        running = follow(program, settings, ctx);
        throw new Error(ended);
      },
      close: () => void running.child.kill(),
    };
  },
});
