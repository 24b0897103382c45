// Events of the daemon as engines pass them on: which ones, as JSON, and again while the other side is away.
import { setTimeout as wait } from 'node:timers/promises';
import {
  asText,
  type EngineContext,
  type EngineEvent,
  fieldOf,
  HaliteError,
  messageOf,
  p,
  type Value,
} from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';

export const whichEvents = {
  tags: p.strings({ default: null, doc: 'Globs; only events whose tag matches one of them are sent. Default: all.' }),
  funs: p.strings({
    default: null,
    doc: 'Of events with a function, only those of these functions are sent. Default: all.',
  }),
};

/** One line of JSON. */
export const toLine = (value: Value): string => dumpJson(value, { ensureAscii: false });

/** The events that the configuration asks for. */
export async function* wantedEvents(
  { tags, funs }: { readonly tags: readonly string[] | null; readonly funs: readonly string[] | null },
  ctx: EngineContext,
): AsyncGenerator<EngineEvent> {
  for await (const event of ctx.events(tags ?? [])) {
    const fun = fieldOf(event.data, 'fun');
    if (funs && fun !== undefined && !funs.includes(asText(fun) ?? '')) continue;
    yield event;
  }
}

const firstWaitMs = 500;
const longestWaitMs = 30_000;

/** Tries until it works, while the other side is away; what is refused is logged and left out. */
export async function persistently(what: string, ctx: EngineContext, work: () => Promise<unknown>): Promise<void> {
  for (let ms = firstWaitMs; !ctx.signal.aborted; ms = Math.min(ms * 2, longestWaitMs)) {
    try {
      await work();
      return;
    } catch (error) {
      if (ctx.signal.aborted) return;
      const away = error instanceof HaliteError && error.code === 'store.unavailable';
      if (!away) {
        ctx.log.error(`${what} refused an event, which is left out: ${messageOf(error)}`);
        return;
      }
      if (ms === firstWaitMs) ctx.log.warn(`${messageOf(error)}; it is tried again until it works`);
      await wait(ms, undefined, { signal: ctx.signal }).catch(() => undefined);
    }
  }
}
