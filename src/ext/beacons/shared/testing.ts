// A beacon's context for tests, and helpers that wait for events of a beacon.
import { type Beacon, type BeaconContext, type BeaconSession, newDict, type PlainDict, type Value } from 'halite/sdk';
import { TestMinion } from 'halite/testing';

export interface TestContext extends BeaconContext {
  readonly said: string[];
  readonly control: AbortController;
}

/** `functions` replaces the functions that `ctx.call` can call. */
export function testContext(
  functions: Readonly<Record<string, (...args: Value[]) => Value>> = {},
  name = 'test',
): TestContext {
  const control = new AbortController();
  const calls = Object.fromEntries(
    Object.entries(functions).map(([fun, answer]) => [fun, (args: readonly Value[]) => answer(...args)]),
  );
  const minion = new TestMinion({ modules: [], calls, opts: { id: 'm1' } });
  const context = minion.beaconContext(name, control.signal);
  return Object.defineProperties(context as TestContext, {
    said: { value: minion.logged },
    control: { value: control },
  });
}

/** Settings in the form that YAML gives. */
export function dict(value: unknown): PlainDict {
  return toValue(value) as PlainDict;
}
function toValue(value: unknown): Value {
  if (Array.isArray(value)) return value.map(toValue);
  if (value !== null && typeof value === 'object')
    return newDict(Object.entries(value).map(([key, item]) => [key, toValue(item)]));
  return value as Value;
}

export const plainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

export async function opened(beacon: Beacon, settings: unknown, ctx = testContext()): Promise<BeaconSession> {
  const given = dict(settings);
  const problem = await beacon.validate?.(given, ctx);
  if (problem !== undefined) throw new Error(problem);
  return beacon.open(given, ctx);
}

export const problem = (beacon: Beacon, settings: unknown): Promise<string | undefined> =>
  Promise.resolve(beacon.validate?.(dict(settings), testContext()));

/** Reads until all expected events have arrived; returns every event. */
export async function until(
  session: BeaconSession,
  done: (told: readonly PlainDict[]) => boolean,
): Promise<PlainDict[]> {
  const told: PlainDict[] = [];
  const deadline = Date.now() + 20_000;
  for (;;) {
    told.push(...(await session.read()));
    if (done(told)) return told;
    if (Date.now() > deadline) throw new Error(`not told in time, only: ${JSON.stringify(told)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
