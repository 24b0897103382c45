// What the execution modules of the built-in proxy types share.
import { fieldOf, HaliteError, type ModuleContext, type ProxyServices, proxyTypeOf, type Value } from 'halite/sdk';

/** Only on proxies of these types. */
export function sampleTypes(opts: Readonly<Record<string, Value>>, types: readonly string[]): true | string {
  const type = proxyTypeOf(opts);
  return type !== undefined && types.includes(type) ? true : `only on proxies of the types ${types.join(', ')}`;
}

export function proxyOf(ctx: Pick<ModuleContext, 'proxy'>): ProxyServices {
  if (ctx.proxy) return ctx.proxy;
  throw new HaliteError('call.failed', 'This minion has no proxied device');
}

/** The answer of `service_status`: `{comment: running}`. */
export const isRunning = (answer: Value): boolean => fieldOf(answer, 'comment') === 'running';
