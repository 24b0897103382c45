import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PlainDict } from '../../base/codec/value.ts';
import { memoryLogger } from '../../base/log/testing.ts';
import { Heartbeat } from './heartbeat.ts';
import { asctime } from './start-events.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp(pingMinutes = 0) {
  const sent: PlainDict[] = [];
  const link = {
    name: 'm',
    failing: false,
    request: async (load: PlainDict) => {
      sent.push(load);
      if (link.failing) throw new Error('no answer');
      return null;
    },
    beat: async () => void (await link.request({ cmd: 'beat' } as unknown as PlainDict)),
  };
  const memory = memoryLogger();
  return { heart: new Heartbeat(link, pingMinutes, memory.log), sent, link, lines: memory.lines };
}

describe('heartbeats', () => {
  it('are sent to a Halite master when nothing else was sent', async () => {
    const { heart, sent } = setUp();
    heart.start(true);
    await vi.advanceTimersByTimeAsync(34_000);
    expect(sent).toHaveLength(1);
    expect(sent[0]?.['cmd']).toBe('beat');
    heart.stop();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(sent).toHaveLength(1);
  });

  it('are not sent while there is traffic', async () => {
    const { heart, sent } = setUp();
    heart.start(true);
    for (let n = 0; n < 12; n++) {
      await vi.advanceTimersByTimeAsync(10_000);
      heart.heard();
    }
    expect(sent).toEqual([]);
    heart.stop();
  });

  it('follow ping_interval with other masters, and report when nothing answers', async () => {
    const quiet = setUp(0);
    quiet.heart.start(false);
    const { heart, sent, link, lines } = setUp(1);
    heart.start(false);
    link.failing = true;
    await vi.advanceTimersByTimeAsync(70_000);
    expect(sent.map((load) => load['tag'])).toEqual(['minion_ping']);
    expect(lines.join('\n')).toContain('did not answer');
    expect(quiet.sent).toEqual([]);
    heart.stop();
  });
});

describe('asctime', () => {
  it('is what C prints', () => {
    expect(asctime(new Date(2026, 5, 6, 3, 4, 5))).toBe('Sat Jun  6 03:04:05 2026');
    expect(asctime(new Date(2026, 10, 15, 13, 14, 15))).toBe('Sun Nov 15 13:14:15 2026');
  });
});
