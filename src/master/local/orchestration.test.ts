// Waiting for events inside an orchestration: where values are searched, and what ends the wait.
import { describe, expect, it } from 'vitest';
import { EventBus } from '../../protocol/event/bus.ts';
import { orchestrationServices } from './orchestration.ts';

function services(signal = new AbortController().signal) {
  const bus = new EventBus();
  const run = { user: 'root', signal };
  const unused = (): never => expect.fail('only events are waited for');
  const functions = { paramsOf: unused, start: unused };
  return { bus, ...orchestrationServices({ bus, functions, runJob: unused }, run) };
}
const wait = { tag: 'done/*', field: 'id', values: ['a', 'b', 'c'], timeoutSeconds: 30 };

describe('waitForEvents', () => {
  it('finds values in the data, below it, and in lists, each once', async () => {
    const { bus, waitForEvents } = services();
    const seen = waitForEvents(wait);
    bus.fire('other/1', { id: 'a' });
    bus.fire('done/1', { id: 'b' });
    bus.fire('done/1', { id: 'b' });
    bus.fire('done/2', { data: { id: ['c', 'x'] } });
    bus.fire('done/3', { id: 'a' });
    expect(await seen).toEqual(['b', 'c', 'a']);
  });

  it('returns the values seen until the timeout', async () => {
    const { bus, waitForEvents } = services();
    const seen = waitForEvents({ ...wait, timeoutSeconds: 0.05 });
    bus.fire('done/1', { id: 'b' });
    expect(await seen).toEqual(['b']);
  });

  it('ends with the run', async () => {
    const control = new AbortController();
    const { waitForEvents } = services(control.signal);
    const seen = waitForEvents(wait);
    control.abort();
    expect(await seen).toEqual([]);
  });
});
