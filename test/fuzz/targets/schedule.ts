// Schedule items with values of any type, cron patterns and moments: an item is wrong or has a next time, and never stops the rest.
import { dictOf, newDict, type PlainDict, type Value } from '../../../src/base/codec/value.ts';
import { Schedule, type ScheduledRun } from '../../../src/engine/schedule/index.ts';
import { type FuzzTarget, hold } from '../engine/target.ts';
import { anyDict, Choices } from '../engine/values.ts';

const keys =
  'function|fun|seconds|minutes|hours|days|when|cron|once|once_fmt|splay|start|end|range|invert|skip_during_range|run_after_skip_range|skip_explicit|run_explicit|time|time_fmt|until|after|enabled|run_on_start|maxrunning|args|kwargs|whens|jid_include|return_job|* * * * *|*/5 1-3 * * 1,5|0 0 31 2 *|5pm|Monday 12:30|2026-11-16T01:00:00|%Y-%m-%d|9:00|tea time|test.ping|L|@hourly|0 0 29 2 1#5'.split(
    '|',
  );

const target: FuzzTarget = {
  maxLength: 300,
  // A pattern may have to look through years of days.
  mostSteps: (length) => 200_000 + 4_000 * length,
  run: async (bytes) => {
    const choices = new Choices(bytes);
    const broken = anyDict(choices, keys);
    const good = dictOf([
      ['function', 'good.one'],
      ['seconds', 1],
    ]);
    const runs: ScheduledRun[] = [];
    const complaints: string[] = [];
    const log = {
      trace() {},
      debug() {},
      info() {},
      warn() {},
      error: (message: string, fields?: object) => complaints.push(`${message} ${JSON.stringify(fields)}`),
    };
    let now = new Date('2026-11-16T01:00:00Z');
    const schedule = new Schedule(
      dictOf([
        ['broken', broken],
        ['good', good],
        ['enabled', true],
      ]),
      {
        log,
        now: () => now,
        random: () => 0.5,
        pillar: () => newDict([['schedule', newDict([['other', broken]])] as [string, Value]]),
        grains: () => newDict([['whens', dictOf([['tea time', '5pm']])]]) as PlainDict,
        running: async () => [],
        run: (run) => runs.push(run),
        persist: async () => {},
        graceMs: 60_000,
      },
    );
    for (let tick = 0; tick < 3; tick++) {
      await schedule.tick();
      now = new Date(now.getTime() + 2000);
    }
    hold(
      !complaints.some((text) => text.startsWith('the schedule failed')),
      `one item stops none: ${complaints.join('; ')}`,
    );
    hold(runs.filter(({ fun }) => fun === 'good.one').length === 2, 'a good item runs beside a bad one');
  },
};
export default target;
