// Storing of events: a bounded number in the master's own store, and all for every returner of event_return.
import { asPlainDict, newDict } from '../../base/codec/value.ts';
import type { Logger } from '../../base/log/index.ts';
import { matchesGlob } from '../../base/util/fnmatch.ts';
import type { BusEvent, EventBus } from '../../protocol/event/bus.ts';
import type { EventRecord, JobStore } from '../../store/jobs.ts';
import type { ReturnerSettings } from './settings.ts';
import type { ReturnerSinks } from './sinks.ts';

const gatherMs = 200;
const mostGathered = 500;
/** Number of batches being stored; when the store is too slow, events are dropped. */
const mostStoring = 20;
const resultTag = /^salt\/job\/(\d{20}[^/]*)\/ret\/([^/]+)$/;

/** Starts to store events; the returned function stops it and writes the collected ones. */
export function recordEvents(
  settings: ReturnerSettings,
  bus: EventBus,
  store: JobStore,
  sinks: ReturnerSinks,
  log: Logger,
): () => Promise<void> {
  const stops: (() => Promise<void> | void)[] = [];
  if (settings.keepEvents > 0) stops.push(keepInStore(settings, bus, store, log));
  if (settings.events.length > 0)
    stops.push(
      bus.subscribe('', (event) => {
        if (event.origin !== 'foreign') sendOut(settings, sinks, event);
      }),
    );
  return async () => {
    for (const stop of stops) await stop();
  };
}

function sendOut(settings: ReturnerSettings, sinks: ReturnerSinks, { tag, data }: BusEvent): void {
  if (!isKept(tag, settings.whitelist, settings.blacklist)) return;
  const record = { k: 'event', tag, data: asPlainDict(data) ?? newDict() } as const;
  for (const { returner } of settings.events) void sinks.add('events', returner, record);
}

/** As in Salt: with a whitelist only what is in it, and never what is in the blacklist. */
export function isKept(tag: string, whitelist: readonly string[], blacklist: readonly string[]): boolean {
  const listed = (globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(tag, glob));
  return (whitelist.length === 0 || listed(whitelist)) && !listed(blacklist);
}

function keepInStore(settings: ReturnerSettings, bus: EventBus, store: JobStore, log: Logger): () => Promise<void> {
  let gathered: EventRecord[] = [];
  let timer: NodeJS.Timeout | undefined;
  let storing = 0;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const batch = gathered;
    gathered = [];
    if (batch.length === 0) return;
    if (storing >= mostStoring) {
      log.limited('events', 'warn', 'events arrive faster than they can be stored: some are dropped', {});
      return;
    }
    storing++;
    // Events are dropped first when the disk is full; the store itself reports that.
    await store.saveEvents(batch).catch(() => log.debug('events were not stored', { events: batch.length }));
    storing--;
  };
  const unsubscribe = bus.watch((tag, origin, event) => {
    // Each member keeps its own events.
    if (origin === 'foreign') return;
    const result = settings.keepReturns ? resultTag.exec(tag) : null;
    const place = result
      ? { data: null, jid: String(result[1]), id: String(result[2]) }
      : { data: asPlainDict(event().data) ?? newDict() };
    gathered.push({ tag, at: Date.now(), ...place });
    if (gathered.length >= mostGathered) void flush();
    else timer ??= setTimeout(() => void flush(), gatherMs).unref();
  });
  return async () => {
    unsubscribe();
    await flush();
  };
}
