// The live data as pages use it: subscribe to a topic, get its messages, and know whether the stream works.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { addressOf, sessionLost } from '../api/http.ts';
import { isFor, type LiveMessage, readMessage } from './messages.ts';
import { readSaid, type Told } from './port.ts';
import { type LinkState, LiveStream, type Topics } from './stream.ts';

declare const __liveWorker: string;

export const linkState = signal<LinkState>('connecting');
/** Counts returns of a stream that was lost: pages then load again what they show. */
export const linkRenewals = signal(0);

type Hear = (message: LiveMessage) => void;
type Options = Readonly<Record<string, unknown>>;

interface Subscription {
  readonly hears: Set<Hear>;
  options: Options;
}

const subscriptions = new Map<string, Subscription>();
let wasLost = false;

function showState(state: LinkState): void {
  if (state === 'refused') sessionLost.value += 1;
  if (state === 'lost') wasLost = true;
  if ((state === 'open' || state === 'polling') && wasLost) {
    wasLost = false;
    linkRenewals.value += 1;
  }
  linkState.value = state;
}

function showMessage(value: unknown): void {
  const message = readMessage(value);
  if (!message) return;
  for (const [name, { hears }] of subscriptions) if (isFor(name, message)) for (const hear of hears) hear(message);
}

const topicsNow = (): Topics => Object.fromEntries([...subscriptions].map(([name, { options }]) => [name, options]));

let tell: ((told: Told) => void) | undefined;

function connect(): (told: Told) => void {
  const base = addressOf('');
  if (typeof SharedWorker === 'undefined') return direct(base);
  const worker = new SharedWorker(new URL(__liveWorker, import.meta.url), { name: 'halite-live' });
  const { port } = worker;
  port.addEventListener('message', (event) => {
    const said = readSaid(event.data);
    if (said?.say === 'state') showState(said.state);
    if (said?.say === 'message') showMessage(said.value);
  });
  port.start();
  const lock = `halite-tab-${Date.now()}-${Math.random().toString(36).slice(2)}`;
  const open = (): void => port.postMessage({ do: 'open', base, lock } satisfies Told);
  if ('locks' in navigator)
    void navigator.locks.request(lock, () => {
      open();
      return new Promise(() => undefined);
    });
  else open();
  globalThis.addEventListener('pagehide', () => port.postMessage({ do: 'close' } satisfies Told));
  globalThis.addEventListener('pageshow', (event) => {
    if (event.persisted) port.postMessage({ do: 'topics', topics: topicsNow() } satisfies Told);
  });
  return (told) => port.postMessage(told);
}

function direct(base: string): (told: Told) => void {
  const stream = new LiveStream(base, { message: showMessage, state: showState });
  return (told) => {
    if (told.do === 'topics') stream.setTopics(told.topics);
    if (told.do === 'restart') stream.restart();
  };
}

let pending = false;

/** Changes of one moment are sent together: a page that replaces another one keeps the connection. */
function tellTopics(): void {
  if (pending) return;
  pending = true;
  queueMicrotask(() => {
    pending = false;
    tell ??= connect();
    tell({ do: 'topics', topics: topicsNow() });
  });
}

function subscribe(topic: string, hear: Hear): () => void {
  const known = subscriptions.get(topic) ?? { hears: new Set(), options: {} };
  known.hears.add(hear);
  subscriptions.set(topic, known);
  tellTopics();
  return () => {
    known.hears.delete(hear);
    if (known.hears.size === 0) subscriptions.delete(topic);
    tellTopics();
  };
}

/** After a login: the old stream belonged to somebody else. */
export function restartLink(): void {
  tell?.({ do: 'restart' });
}

/** For the life of a component. An empty topic subscribes to nothing; options may change. */
export function useLive(topic: string, hear: Hear, options: Options = {}): void {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => (topic === '' ? undefined : subscribe(topic, (message) => latest.current(message))), [topic]);
  useEffect(() => {
    const known = subscriptions.get(topic);
    if (!known) return;
    known.options = options;
    tellTopics();
  }, [topic, JSON.stringify(options)]);
}
