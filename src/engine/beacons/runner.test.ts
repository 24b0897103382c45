// Running beacons: their intervals, their events, isolation of errors, and changes of the configuration.
import { afterEach, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import { Loader } from '../../extend/loader/index.ts';
import type { BuiltinTable } from '../../extend/loader/kinds.ts';
import { type BeaconContext, defineBeacon } from '../../extend/sdk/index.ts';
import { BeaconRunner } from './runner.ts';

interface Sight {
  opened: number;
  closed: number;
  reads: number;
  fails: string | undefined;
}

const sight: Sight = { opened: 0, closed: 0, reads: 0, fails: undefined };
const table: BuiltinTable = {
  beacons: {
    count: {
      load: async () => ({
        default: defineBeacon({
          name: 'count',
          doc: 'Counts its reads.',
          validate: ({ bad }) => (bad === undefined ? undefined : 'bad is not known'),
          open(settings) {
            sight.opened++;
            return {
              read() {
                sight.reads++;
                if (sight.fails !== undefined) throw new Error(sight.fails);
                return [newDict(Object.entries({ tag: 'now', n: sight.reads, of: settings['of'] ?? null }))];
              },
              close: () => void sight.closed++,
            };
          },
        }),
      }),
    },
  },
};

let runner: BeaconRunner | undefined;
afterEach(async () => {
  await runner?.stop();
  Object.assign(sight, { opened: 0, closed: 0, reads: 0, fails: undefined });
});

const list = (...parts: Record<string, Value>[]): Value => parts.map((part) => newDict(Object.entries(part)));
const config = (fields: Record<string, Value>): PlainDict => newDict(Object.entries(fields));

function start() {
  const events: PlainDict[] = [];
  const said: string[] = [];
  const once: string[] = [];
  const state = { runs: false };
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (text: string) => void said.push(text),
  };
  const loader = new Loader({
    opts: () => ({}),
    grains: newDict,
    log: nullLogger(),
    userCode: 'names',
    builtin: table,
  });
  runner = new BeaconRunner({
    ...{ log, loader: () => loader, id: () => 'm1', loopMs: () => 50 },
    context: (name, signal) => ({ name, signal }) as unknown as BeaconContext,
    stateRuns: async () => state.runs,
    emit: (told) => void events.push(...told),
    ranOnce: (name) => void once.push(name),
  });
  return { runner, events, said, once, state };
}

async function wait(what: string, done: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!done()) {
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('the runner', () => {
  it('reads again and again and gives events their tag and id', async () => {
    const { runner, events } = start();
    await runner.configure(
      config({ count: list({ of: 1 }), other: list({ beacon_module: 'count' }, { interval: 0.05 }) }),
    );
    await wait(
      'events of both',
      () => events.length >= 6 && events.some((event) => event['tag'] === 'salt/beacon/m1/other/now'),
    );
    expect(events[0]).toEqual({
      tag: 'salt/beacon/m1/count/now',
      data: { n: 1, of: 1, id: 'm1' },
      beacon_name: 'count',
    });
  });

  it('keeps what has not changed, and closes removed or disabled beacons', async () => {
    const { runner } = start();
    await runner.configure(config({ count: list({ of: 1 }) }));
    await runner.configure(config({ count: list({ of: 1 }), two: list({ beacon_module: 'count' }) }));
    expect(sight).toMatchObject({ opened: 2, closed: 0 });
    await runner.configure(config({ count: list({ of: 2 }) }));
    expect(sight).toMatchObject({ opened: 3, closed: 2 });
    await runner.configure(config({ count: list({ of: 2 }, { enabled: false }) }));
    expect(sight).toMatchObject({ opened: 3, closed: 3 });
    await runner.configure(config({ count: list({ of: 2 }) }));
    await runner.configure(config({ count: list({ of: 2 }), enabled: false }));
    expect(sight).toMatchObject({ opened: 4, closed: 4 });
  });

  it('logs an error once, reports it once, and continues', async () => {
    const { runner, events, said } = start();
    sight.fails = 'no such thing';
    await runner.configure(
      config({ count: list({}), wrong: list({ beacon_module: 'count' }, { bad: 1 }), dict: newDict(), none: list({}) }),
    );
    await wait('some looks', () => sight.reads > 3);
    expect(said.filter((text) => text.includes('no such thing'))).toEqual([
      'Unable to start count beacon, no such thing',
    ]);
    expect(events).toEqual([
      { tag: 'salt/beacon/m1/count/', data: { error: 'no such thing', id: 'm1' }, beacon_name: 'count' },
    ]);
    expect(said.slice(0, 3).sort()).toEqual([
      'Beacon dict configuration invalid, not running.\nBeacon "dict" is not available.',
      'Beacon none configuration invalid, not running.\nBeacon "none" is not available.',
      'Beacon wrong configuration invalid, not running.\nbad is not known',
    ]);
    sight.fails = undefined;
    await wait('it to work again', () => events.length > 1);
  });

  it('pauses during state runs if configured, and starts again', async () => {
    const { runner, events, state } = start();
    state.runs = true;
    await runner.configure(config({ count: list({ disable_during_state_run: true }) }));
    await wait('it to be closed', () => sight.closed === 1);
    expect(events).toEqual([]);
    state.runs = false;
    await wait('events', () => events.length > 0);
    expect(sight.opened).toBe(2);
  });

  it('reports run_once, and refuses a configuration that is not a list or has no valid interval', async () => {
    const { runner, once, said } = start();
    await runner.configure(config({ count: list({ run_once: true }) }));
    await wait('its run', () => once.length > 0);
    await runner.configure(config({ count: list({ run_once: true }), two: list({ beacon_module: 'count' }) }));
    await wait('others to continue', () => sight.reads > 3);
    expect(once).toEqual(['count']);
    await runner.configure(config({ count: newDict(), two: list({ beacon_module: 'count' }, { interval: 'often' }) }));
    expect(said).toEqual([
      'Beacon count configuration invalid, not running.\nConfiguration for count beacon must be a list.',
      'Beacon two configuration invalid, not running.\nConfiguration for count beacon: interval must be a number of seconds.',
    ]);
  });
});
