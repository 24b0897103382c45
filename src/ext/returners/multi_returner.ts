// Returner `multi_returner`: writes to several other returners, and reads from all of them.
import {
  defineReturner,
  HaliteError,
  type JobCache,
  messageOf,
  newDict,
  type PlainDict,
  type ReturnerSession,
} from 'halite/sdk';
import { textList } from './shared/loads.ts';

interface Part {
  readonly name: string;
  readonly session: ReturnerSession;
}

/** Runs all parts even if some fail; throws the first lines of all failures. */
async function all(parts: readonly Part[], work: (session: ReturnerSession) => Promise<unknown> | undefined) {
  const done = await Promise.allSettled(parts.map(({ session }) => work(session)));
  const failed = done.flatMap((item, at) =>
    item.status === 'rejected' ? [`${parts[at]!.name}: ${messageOf(item.reason)}`] : [],
  );
  if (failed.length > 0) throw new HaliteError('store.unavailable', failed.join('; '));
}

function mergedCache(parts: readonly Part[]): JobCache {
  const caches = parts.flatMap(({ session }) => (session.jobCache ? [session.jobCache] : []));
  const merge = async (ask: (cache: JobCache) => Promise<Map<string, PlainDict>>) =>
    new Map((await Promise.all(caches.map(ask))).flatMap((found) => [...found]));
  return {
    saveLoad: (jid, load, minions) => all(parts, ({ jobCache }) => jobCache?.saveLoad(jid, load, minions)),
    async load(jid) {
      const found = (await Promise.all(caches.map((cache) => cache.load(jid)))).filter((load) => load !== undefined);
      return found.length > 0 ? newDict(found.flatMap((load) => Object.entries(load))) : undefined;
    },
    returns: (jid) => merge((cache) => cache.returns(jid)),
    lastOf: (fun) => merge((cache) => cache.lastOf(fun)),
    jids: () => merge((cache) => cache.jids()),
    minions: async () => [...new Set((await Promise.all(caches.map((cache) => cache.minions()))).flat())].sort(),
    async clean(seconds) {
      const counts = await Promise.all(caches.map((cache) => cache.clean?.(seconds) ?? 0));
      return Math.max(0, ...counts);
    },
  };
}

export default defineReturner({
  name: 'multi_returner',
  doc: 'Sends results, jobs and events to every returner listed in the option multi_returner.',
  keeps: ['jobs', 'events'],
  options: {},
  async open(_options, ctx) {
    const names = textList(ctx.opts['multi_returner'] ?? null);
    if (names.length === 0) throw new HaliteError('config.value', 'The option multi_returner lists no returners');
    const parts: Part[] = [];
    for (const name of names) parts.push({ name, session: await ctx.open(name) });
    const some = (has: (session: ReturnerSession) => unknown) => parts.some(({ session }) => has(session));
    return {
      save: (ret) => all(parts, (session) => session.save(ret)),
      ...(some((session) => session.saveEvents)
        ? { saveEvents: (events) => all(parts, (session) => session.saveEvents?.(events)) }
        : {}),
      ...(some((session) => session.jobCache) ? { jobCache: mergedCache(parts) } : {}),
      close: () => all(parts, (session) => session.close?.()),
    };
  },
});
