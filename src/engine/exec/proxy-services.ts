// The device of a proxy minion as functions reach it: through the minion, which passes every call on to its proxy process.
import { asList, isTexts, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MinionServices, ProxyServices } from '../../extend/sdk/index.ts';
import { proxyTypeOf } from '../../extend/sdk/proxies.ts';
import { assertMayRun } from '../../extend/sdk/read-only.ts';

/** Undefined on minions without a device. */
export function proxyServices(
  minion: Pick<MinionServices, 'proxy'>,
  opts: Readonly<Record<string, Value>>,
): ProxyServices | undefined {
  const type = proxyTypeOf(opts);
  const ask = minion.proxy;
  if (type === undefined || !ask) return undefined;
  const request = (func: string, more: PlainDict = newDict()): Promise<Value> =>
    ask(newDict([['func', func], ...Object.entries(more)]));
  return {
    type,
    async names() {
      const names = asList(await request('names')) ?? [];
      return isTexts(names) ? [...names] : [];
    },
    has: async (fun) => (await request('has', newDict([['fun', fun]]))) === true,
    call(fun, args = [], kwargs = newDict()) {
      // Like a program: what only reads is called by functions that say so.
      assertMayRun(`${type}.${fun} of the proxied device`);
      return request('call', newDict(Object.entries({ fun, args: [...args], kwargs })));
    },
    reconnect: async () => (await request('reconnect')) === true,
  };
}
