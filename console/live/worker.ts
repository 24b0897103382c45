// Runs once for all tabs of a browser: HTTP/1.1 allows six connections to a server, so a stream for each tab would stop
// the seventh.
import { readTold, type Said } from './port.ts';
import { type LinkState, LiveStream, type Topics } from './stream.ts';

const tabs = new Map<MessagePort, Topics>();
let stream: LiveStream | undefined;
let state: LinkState = 'connecting';

const sayToAll = (said: Said): void => {
  for (const port of tabs.keys()) port.postMessage(said);
};

function open(base: string): LiveStream {
  return new LiveStream(base, {
    message: (value) => sayToAll({ say: 'message', value }),
    state: (now) => {
      state = now;
      sayToAll({ say: 'state', state: now });
    },
  });
}

const update = (): void => stream?.setTopics(Object.assign({}, ...tabs.values()));

function forget(port: MessagePort): void {
  tabs.delete(port);
  update();
}

function hear(port: MessagePort, event: MessageEvent): void {
  const told = readTold(event.data);
  if (!told) return;
  if (told.do === 'open') {
    stream ??= open(told.base);
    // Topics may have arrived first.
    if (!tabs.has(port)) tabs.set(port, {});
    update();
    port.postMessage({ say: 'state', state } satisfies Said);
    // The lock is free again when the tab has ended, also when it crashed.
    if ('locks' in navigator) void navigator.locks.request(told.lock, () => forget(port));
  }
  if (told.do === 'topics') {
    tabs.set(port, told.topics);
    update();
  }
  if (told.do === 'restart') stream?.restart();
  if (told.do === 'close') forget(port);
}

globalThis.addEventListener('connect', (event) => {
  if (!(event instanceof MessageEvent)) return;
  for (const port of event.ports) {
    port.addEventListener('message', (message) => hear(port, message));
    port.start();
  }
});
