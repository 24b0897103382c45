import { expect, it } from 'vitest';
import { addSnapshots } from '../../fleet/add-up.ts';
import { Counters, zeroCounts } from '../../fleet/counters.ts';
import { noJobs } from '../../fleet/jobs.ts';
import { reportOf } from '../../fleet/report.ts';
import { LiveTable } from './live.ts';
import { reasonLines, tableOf } from './table.ts';

function report() {
  const counters = new Counters();
  counters.add('minions', 2000);
  counters.add('signedIn', 2000);
  counters.add('signIns', 2000);
  for (let n = 0; n < 60; n++) counters.because(`reason ${n}`);
  counters.because('reason 0');
  counters.took('acknowledgement', 12.5);
  const job = {
    jid: '20260101000000000000',
    fun: 'test.ping',
    question: false,
    from: 1000,
    to: 2000,
    expected: 2000,
    taken: 2000,
    acknowledged: 1990,
    doubled: 4,
    dropped: 3,
  };
  const snapshot = { ...counters.snapshot(), jobs: [job], earlier: noJobs(), haliteMaster: true };
  return reportOf(addSnapshots([snapshot, { ...snapshot, counts: zeroCounts(), jobs: [] }]));
}

const facts = { master: '127.0.0.1:4506', about: 'zeromq', elapsedMs: 61_000 };

it('the table has what counts, and is cut to the width of the terminal', () => {
  const lines = tableOf(report(), facts, 0);
  expect(lines[0]).toBe('salt-fleet  127.0.0.1:4506  zeromq  01:01');
  expect(lines.join('\n')).toContain('1,990   of 2,000   missing 7   doubled 4   dropped 3');
  expect(lines.join('\n')).toContain('p50 13');
  for (const line of tableOf(report(), facts, 40)) expect(line.length).toBeLessThanOrEqual(40);
});

it('reasons are few, and the most frequent comes first', () => {
  const { reasons } = report();
  expect(Object.keys(reasons)).toHaveLength(51);
  expect(reasonLines(report())[0]).toContain('other reasons');
  expect(reasonLines(report())).toHaveLength(11);
});

function shown(options: { isTerminal: boolean; color?: boolean }): string {
  let text = '';
  const io = {
    out: () => undefined,
    err: (more: string) => {
      text += more;
    },
  };
  const live = new LiveTable({ io, quiet: false, columns: () => 60, ...options });
  live.show(['title', 'row\u001b[2J']);
  live.show(['title', 'second']);
  live.clear();
  return text;
}

it('a terminal gets the table in place; a pipe gets a line; NO_COLOR gets no attributes', () => {
  expect(shown({ isTerminal: true, color: true })).toContain('\u001b[1mtitle');
  const plain = shown({ isTerminal: true, color: false });
  expect(plain).toBe('title\nrow\\u001b[2J\n\u001b[2A\r\u001b[Jtitle\nsecond\n\u001b[2A\r\u001b[J');
  expect(shown({ isTerminal: false })).toBe('title |row\\u001b[2J\ntitle |second\n');
});
