// A beacon's context for tests, and waiting for what a beacon tells.
import { type Beacon, type BeaconContext, type BeaconSession, newDict, type PlainDict, type Value } from 'halite/sdk';

export interface TestContext extends BeaconContext {
  readonly said: string[];
  readonly control: AbortController;
}

/** `functions` answer `ctx.call`. */
export function testContext(
  functions: Readonly<Record<string, (...args: Value[]) => Value>> = {},
  name = 'test',
): TestContext {
  const control = new AbortController();
  const said: string[] = [];
  const say = (message: string): void => void said.push(message);
  const call = async (fun: string, ...args: Value[]): Promise<Value> => {
    const found = functions[fun];
    if (!found) throw new Error(`no function ${fun}`);
    return found(...args);
  };
  return {
    ...{ id: 'm1', name, opts: {}, grains: newDict(), said, control, signal: control.signal },
    log: { debug: () => undefined, info: say, warn: say, error: say },
    call,
    callWith: (fun, args) => call(fun, ...args),
    exec: () => Promise.reject(new Error('no programs here')),
  };
}

/** Keyed values as they come from YAML. */
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

/** Reads until everything that is looked for has been told; all that was told. */
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
