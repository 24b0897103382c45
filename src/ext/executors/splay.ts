// Executor `splay`: waits for a while that depends on the id, so that not all minions begin at the same time.
import { setTimeout as wait } from 'node:timers/promises';
import { asNumber, defineExecutor, fieldOf, HaliteError } from 'halite/sdk';

const places = 8192;

/** Jenkins' one-at-a-time hash, as Salt uses it: a minion waits as long with either. */
function placeOf(id: string): number {
  let hash = 0;
  for (const byte of Buffer.from(id)) {
    hash = (hash + byte) >>> 0;
    hash = (hash + (hash << 10)) >>> 0;
    hash = (hash ^ (hash >>> 6)) >>> 0;
  }
  hash = (hash + (hash << 3)) >>> 0;
  hash = (hash ^ (hash >>> 11)) >>> 0;
  hash = (hash + (hash << 15)) >>> 0;
  return hash & (places - 1);
}

const splaySeconds = (id: string, splaytime: number): number => Math.floor((splaytime * placeOf(id)) / places);

export default defineExecutor({
  name: 'splay',
  doc: 'Waits up to `splaytime` seconds (300), as long for a minion each time, then passes the call on.',
  async execute({ data }, ctx) {
    const given = fieldOf(data['executor_opts'] ?? null, 'splaytime') ?? ctx.opts['splaytime'] ?? 300;
    const splaytime = asNumber(given) ?? Number.NaN;
    if (!(splaytime > 0)) throw new HaliteError('call.arguments', 'splaytime must be a positive integer');
    await wait(splaySeconds(ctx.id, splaytime) * 1000, undefined, { signal: ctx.signal });
    return undefined;
  },
});
