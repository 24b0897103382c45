// The whole schedule with a simulated clock: which jobs run, which wait, and requests to it.
import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict, PyFloat, type Value } from '../../base/codec/value.ts';
import { answerSchedule } from './requests.ts';
import { Schedule, type ScheduledRun } from './schedule.ts';

const dict = (fields: Record<string, Value>): PlainDict => newDict(Object.entries(fields));

function clockwork(own: Record<string, Value>, pillar: Record<string, Value> = {}) {
  let now = new Date(2026, 10, 15, 10, 0, 0).getTime();
  const runs: ScheduledRun[] = [];
  const saved: PlainDict[] = [];
  const running: string[] = [];
  const complaints: string[] = [];
  const log = { debug() {}, info() {}, warn() {}, error: (text: string) => void complaints.push(text) };
  let current = dict(pillar);
  const schedule = new Schedule(dict(own), {
    ...{ log, now: () => new Date(now), random: () => 0, graceMs: 60_000 },
    pillar: () => dict({ schedule: current }),
    grains: () => newDict(),
    running: async () => running,
    run: (run) => void runs.push(run),
    persist: async (all) => void saved.push(all),
  });
  const pass = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds; i++) {
      now += 1000;
      await schedule.tick();
    }
  };
  const ask = (request: Record<string, Value>) => answerSchedule(schedule, dict(request));
  const setPillar = (fresh: Record<string, Value>) => {
    current = dict(fresh);
  };
  return { schedule, runs, saved, running, complaints, pass, ask, setPillar };
}
const ping = (more: Record<string, Value> = {}): PlainDict => dict({ function: 'test.ping', seconds: 5, ...more });

describe('a schedule', () => {
  it('reads a whole float as a number', async () => {
    const { pass, runs } = clockwork({ slow: ping({ seconds: new PyFloat(5) }) });
    await pass(12);
    expect(runs).toHaveLength(2);
  });

  it('runs jobs of configuration and pillar; the former take precedence', async () => {
    const pillar = { both: ping({ args: ['pillar'] }), theirs: ping() };
    const { runs, pass } = clockwork({ both: ping({ args: ['own'], kwargs: dict({ a: 1 }) }) }, pillar);
    await pass(7);
    expect(runs.map(({ name, args, kwargs }) => [name, args, { ...kwargs }])).toEqual([
      ['both', ['own'], { a: 1 }],
      ['theirs', [], {}],
    ]);
  });

  it('does not start a job that has reached its maximum', async () => {
    const { runs, running, pass, ask } = clockwork({
      one: ping(),
      two: ping({ maxrunning: 2 }),
      free: ping({ jid_include: false }),
    });
    running.push('one', 'two', 'free');
    await pass(6);
    expect(runs.map(({ name }) => name)).toEqual(['two', 'free']);
    expect((await ask({ func: 'job_status', name: 'one' }))['data']).toMatchObject({ _skip_reason: 'maxrunning' });
  });

  it('keeps the times of jobs that a new pillar does not change', async () => {
    const { runs, pass, setPillar } = clockwork({}, { same: ping(), gone: ping() });
    await pass(4);
    setPillar({ same: ping(), fresh: ping() });
    await pass(3);
    expect(runs.map(({ name }) => name)).toEqual(['same']);
    await pass(3);
    expect(runs.map(({ name }) => name)).toEqual(['same', 'fresh']);
  });

  it('can be extended, saved, and disabled', async () => {
    const { runs, saved, pass, ask } = clockwork({});
    await ask({ func: 'add', name: 'j', schedule: dict({ j: ping() }), persist: true });
    expect(saved).toEqual([dict({ j: ping({ enabled: true }) })]);
    await pass(4);
    await ask({ func: 'disable_job', name: 'j', persist: false });
    await ask({ func: 'enable_job', name: 'j', persist: false });
    await pass(2);
    expect(runs.length).toBe(1);
    await ask({ func: 'disable', persist: true });
    await pass(20);
    expect(runs.length).toBe(1);
    expect(saved.length).toBe(2);
    await ask({ func: 'run_job', name: 'j' });
    expect(runs.length).toBe(2);
    await ask({ func: 'delete', name: 'j', persist: true });
    expect(Object.keys((await ask({ func: 'list' }))['schedule'] as PlainDict)).toEqual(['enabled']);
  });

  it('does not change the jobs of the pillar', async () => {
    const { ask } = clockwork({}, { theirs: ping() });
    await ask({ func: 'add', name: 'theirs', schedule: dict({ theirs: ping({ seconds: 1 }) }), persist: false });
    await ask({ func: 'delete', name: 'theirs', persist: false });
    expect((await ask({ func: 'list' }))['schedule']).toMatchObject({ theirs: { seconds: 5 } });
  });

  it('reports a problem once', async () => {
    const { complaints, pass } = clockwork({ bad: 'text', worse: dict({ function: 'test.ping', cron: 'never' }) });
    await pass(5);
    expect(complaints.length).toBe(2);
  });

  const at = (seconds: number): Value => {
    const clock = new Date(2026, 10, 15, 10, 0, seconds).toTimeString().slice(0, 8);
    return dict({ time: `2026-11-15T${clock}`, time_fmt: '%Y-%m-%dT%H:%M:%S' });
  };

  it('skips and adds the runs that a configuration names', async () => {
    const { runs, pass } = clockwork({ j: ping({ skip_explicit: [at(13)], run_explicit: [at(3), at(-30)] }) });
    await pass(2);
    expect(runs.length).toBe(0);
    await pass(1);
    expect(runs.length).toBe(1);
    await pass(5);
    expect(runs.length).toBe(2);
    await pass(9);
    expect(runs.length).toBe(2);
  });

  it('reports an invalid range, and does not run', async () => {
    const { complaints, runs, pass, ask } = clockwork({
      a: ping({ range: 'always' }),
      b: ping({ skip_during_range: dict({ start: 'garbage', end: '11:00' }) }),
    });
    await pass(12);
    expect(runs).toEqual([]);
    expect(complaints).toEqual([
      'schedule.handle_func: Invalid, range must be specified as a dictionary.Ignoring job a.',
      'Invalid date string for start in skip_during_range. Ignoring job b.',
    ]);
    expect((await ask({ func: 'job_status', name: 'a' }))['data']).toMatchObject({ _error: complaints[0] });
  });

  it('uses the interval when there are other times, and never runs without times', async () => {
    const { runs, pass } = clockwork({
      both: ping({ when: '10:30' }),
      none: dict({ function: 'test.ping', run_on_start: true, run_explicit: [at(2)] }),
    });
    await pass(6);
    expect(runs.map(({ name }) => name)).toEqual(['both']);
  });

  it('shows a job as Salt does', async () => {
    const { ask, pass } = clockwork({
      enabled: false,
      daily: dict({ function: 'test.ping', when: '10:30' }),
      once: dict({ function: 'test.ping', once: '2026-11-15T11:00:00' }),
    });
    await pass(1);
    await ask({ func: 'run_job', name: 'daily' });
    const status = async (name: string) => (await ask({ func: 'job_status', name }))['data'] as PlainDict;
    expect(await status('daily')).toMatchObject({ _run: true, run: true, _skip_reason: 'disabled' });
    expect(await status('daily')).not.toHaveProperty('_last_run');
    expect(await status('once')).not.toHaveProperty('_skip_reason');
  });

  it('treats a pattern that never matches as invalid', async () => {
    const { complaints, pass } = clockwork({ j: dict({ function: 'test.ping', cron: '5 10 31 2 *' }) });
    await pass(2);
    expect(complaints).toEqual(['Invalid cron string. Ignoring job j.']);
  });

  it('refuses unknown requests', async () => {
    const { ask } = clockwork({});
    await expect(ask({ func: 'constructor' })).rejects.toThrow('has no function');
    await expect(ask({ func: 'add', schedule: 'x' })).rejects.toThrow('dict');
  });

  it('knows when a job that was just added runs next', async () => {
    const { ask, runs } = clockwork({});
    await ask({ func: 'add', name: 'soon', schedule: dict({ soon: ping() }) });
    expect({ ...(await ask({ func: 'get_next_fire_time', name: 'soon' })) }).toEqual({
      complete: true,
      next_fire_time: '2026-11-15T10:00:05',
    });
    expect(runs).toEqual([]);
  });
});
