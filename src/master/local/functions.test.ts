// Results that are already JSON text: sent unchanged, parsed by all other readers, and not stored again when they are
// long.
import { describe, expect, it } from 'vitest';
import { JsonText } from '../../base/codec/json/index.ts';
import { dictGet, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { Loader } from '../../extend/loader/index.ts';
import { type MasterServices, masterFn } from '../../extend/sdk/index.ts';
import type { JobRecord, ReturnRecord } from '../../store/jobs.ts';
import { MasterFunctions } from './functions.ts';

function scene(text: JsonText): { functions: MasterFunctions; fired: PlainDict[]; stored: ReturnRecord[] } {
  const fired: PlainDict[] = [];
  const stored: ReturnRecord[] = [];
  const parts = {
    opts: { raw: newDict([['id', 'here']]) },
    log: nullLogger(),
    bus: { fire: (_tag: string, data: PlainDict) => void fired.push(data) },
    store: {
      saveJob: async (_job: JobRecord) => undefined,
      saveReturn: async (ret: ReturnRecord) => {
        stored.push(ret);
        return 'stored' as const;
      },
    },
    services: () => ({}) as MasterServices,
  };
  const fn = masterFn({ doc: 'Returns the text.', run: () => text });
  const loader = {
    find: async (_kind: string, name: string) => ({ name, fullName: name, fn }),
  } as unknown as Loader;
  const functions = new MasterFunctions({ ...parts, loader });
  return { functions, fired, stored };
}

const text = (entries: number, outputter?: string): JsonText =>
  new JsonText([Buffer.from('{"a": 1}')], { entries, ...(outputter ? { outputter } : {}) });
const announced = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const plain = (value: Value | undefined): unknown => JSON.parse(JSON.stringify(value));

describe('a result that is already JSON text', () => {
  it('is sent to the command unchanged, and as a value to events and history', async () => {
    const { functions, fired, stored } = scene(text(1, 'yaml'));
    const { ret, success } = await functions.start('runners', 'jobs.list_jobs', [], newDict(), 'root').result;
    expect(ret).toBeInstanceOf(JsonText);
    expect(success).toBe(true);
    await announced();
    const shown = { outputter: 'yaml', data: { a: 1 } };
    expect(plain(fired.at(-1)?.['return'])).toEqual(shown);
    expect(plain(dictGet(stored[0]!.load, 'return'))).toEqual(shown);
  });

  it.each([
    [101, { a: 1 }, '101 entries, not repeated here'],
    [2001, '2001 entries, not repeated here', '2001 entries, not repeated here'],
  ])('of %i entries is not repeated', async (entries, inEvent, inHistory) => {
    const { functions, fired, stored } = scene(text(entries));
    await functions.start('runners', 'jobs.lookup_jid', [], newDict(), 'root').result;
    await announced();
    expect(plain(fired.at(-1)?.['return'])).toEqual(inEvent);
    expect(plain(dictGet(stored[0]!.load, 'return'))).toEqual(inHistory);
  });

  it('is a value for functions that call it', async () => {
    const { functions } = scene(text(1));
    expect(plain(await functions.call('runners', 'jobs.list_jobs', [], newDict()))).toEqual({ a: 1 });
  });
});
