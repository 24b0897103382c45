// Engine `stalekey`: deletes the keys of minions that were not connected for a long time. It rather keeps a key too long.
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  asNumber,
  defineEngine,
  dictEntries,
  type EngineContext,
  HaliteError,
  isDict,
  isTexts,
  messageOf,
  newDict,
  type OrchestrationServices,
  PyFloat,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { mkdir, readFile, replaceFile, stat } from 'halite/sdk/fs';

/** Id → when it was last seen, in seconds since 1970. */
type Seen = Map<string, number>;

const pingSeconds = 30;
const now = (): number => Date.now() / 1000;

async function call(
  master: OrchestrationServices,
  kind: 'runners' | 'wheel',
  fun: string,
  args: readonly Value[],
): Promise<Value> {
  const report = await master.callFunction({ kind, fun, args, kwargs: newDict() });
  if (!report.success) throw new HaliteError('call.failed', `${fun}: ${pyStr(report.return)}`);
  return report.return;
}

/** Of all accepted minions. Lower masters have keys too, and are in neither list. */
async function idsThat(master: OrchestrationServices, fun: 'manage.present' | 'manage.not_present'): Promise<string[]> {
  const ids = await call(master, 'runners', fun, []);
  if (!isTexts(ids)) throw new HaliteError('call.failed', `${fun} answered in an unknown form`);
  return ids;
}

/** Salt's own file; `at` is when it was written. */
async function readSeen(path: string): Promise<{ seen: Seen; at: number } | undefined> {
  const times = await stat(path).catch(() => undefined);
  if (!times) return undefined;
  const seen: Seen = new Map();
  const read = unpack(await readFile(path));
  if (!isDict(read)) throw new HaliteError('codec.malformed', `${path} is not a list of minions`);
  for (const [id, at] of dictEntries(read)) seen.set(pyStr(id), asNumber(at) ?? 0);
  return { seen, at: times.mtimeMs / 1000 };
}

async function writeSeen(path: string, seen: Seen): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const data = newDict([...seen].map(([id, at]): [string, Value] => [id, new PyFloat(at)]));
  await replaceFile(path, pack(data));
}

/** Minions of old kinds are not seen as connected although they are there: each is asked before its key goes. */
async function silentOnes(master: OrchestrationServices, ids: readonly string[]): Promise<string[]> {
  const job = { tgt: ids, tgt_type: 'list', fun: 'test.ping', arg: [], timeoutSeconds: pingSeconds };
  const { returns } = await master.runJob(job).catch((error: unknown) => {
    if (error instanceof HaliteError && error.code === 'target.empty') return { returns: {} };
    throw error;
  });
  return ids.filter((id) => !Object.hasOwn(returns, id));
}

interface Check {
  readonly master: OrchestrationServices;
  readonly path: string;
  readonly expire: number;
  /** Seconds before this check in which nobody looked. */
  readonly blind: number;
}

async function check({ master, path, expire, blind }: Check, ctx: EngineContext): Promise<void> {
  const before = (await readSeen(path))?.seen ?? new Map<string, number>();
  const present = new Set(await idsThat(master, 'manage.present'));
  const ids = [...new Set([...present, ...(await idsThat(master, 'manage.not_present'))])];
  const at = now();
  // With nobody here, it is more likely that the master is cut off: such a time is not counted either.
  const alone = present.size === 0;
  if (alone && ids.length > 0) ctx.log.warn('no minion is connected at all: nothing is counted as absence');
  const seen: Seen = new Map();
  for (const id of ids) {
    const last = before.get(id);
    seen.set(id, last === undefined || present.has(id) ? at : Math.min(at, last + blind));
  }
  const stale = alone ? [] : [...seen].filter(([, last]) => at - expire > last).map(([id]) => id);
  const silent = stale.length > 0 ? await silentOnes(master, stale) : [];
  for (const id of stale) if (!silent.includes(id)) seen.set(id, at);
  for (const id of silent) {
    ctx.log.warn(`the key of ${id} is deleted: it was not seen for ${Math.round(at - (seen.get(id) ?? at))} seconds`);
    // By its id: `key.delete` takes globs.
    await call(master, 'wheel', 'key.delete_dict', [newDict([['minions', [id]]])]);
    seen.delete(id);
  }
  await writeSeen(path, seen);
}

export default defineEngine({
  name: 'stalekey',
  doc: 'Deletes the keys of minions that were not connected for `expire` seconds.',
  examples: ['engines:\n  - stalekey:\n      interval: 3600\n      expire: 604800'],
  params: {
    interval: p.float({ default: 3600, doc: 'Seconds between two looks.' }),
    expire: p.float({ default: 604_800, doc: 'Seconds after which a key is deleted.' }),
  },
  available: ({ opts }) => {
    if (opts['__role'] !== 'master') return 'stalekey runs on masters';
    return opts['minion_data_cache'] === false ? 'stalekey needs minion_data_cache' : true;
  },
  async start({ interval, expire }, ctx) {
    const { master } = ctx;
    if (!master) throw new HaliteError('call.failed', 'stalekey runs on masters');
    const path = join(pyStr(ctx.opts['cachedir']), 'presence.p');
    // While nobody looked, minions may have been there.
    let looked = (await readSeen(path).catch(() => undefined))?.at;
    while (!ctx.signal.aborted) {
      const blind = looked === undefined ? 0 : Math.max(0, now() - looked - interval);
      try {
        await check({ master, path, expire, blind }, ctx);
        looked = now();
      } catch (error) {
        if (ctx.signal.aborted) return;
        ctx.log.error(`the check failed, no key is deleted: ${messageOf(error)}`);
      }
      await wait(Math.max(0.1, interval) * 1000, undefined, { signal: ctx.signal }).catch(() => undefined);
    }
  },
});
