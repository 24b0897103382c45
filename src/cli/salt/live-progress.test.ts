// The progress line: when it is shown, and that it never mixes with results.
import { describe, expect, it } from 'vitest';
import { captureTerminal } from '../testing.ts';
import { LiveProgress, progressText } from './live-progress.ts';

const make = (options: { asked?: boolean; never?: boolean; tty?: boolean }) => {
  const io = captureTerminal();
  const { asked = false, never = false, tty = true } = options;
  return { io, progress: new LiveProgress({ asked, never, io, isTerminal: () => tty }) };
};

it('shows the progress of the job', () => {
  expect(progressText({ done: 5, total: 20, text: '' })).toBe('[#####               ] 25%  Returns: [5/20]');
  expect(progressText({ done: 1, total: 1, text: 'x'.repeat(200) })).toHaveLength(79);
});

it('never fills a line of the terminal, however narrow', () => {
  const line = { done: 1500, total: 2000, text: 'web1: unpacking' };
  for (const columns of [20, 40, 49, 50, 60, 80, 200])
    expect([columns, progressText(line, columns).length < columns]).toEqual([columns, true]);
  expect(progressText(line, 40)).toBe('75%  Returns: [1500/2000]  web1: unpack');
  expect(progressText({ ...line, text: 'x'.repeat(300) }, 300)).toHaveLength(119);
});

describe('is drawn', () => {
  it('by default only for many targets on a terminal', () => {
    const few = make({});
    few.progress.start(20);
    expect(few.io.stderr).toBe('');
    const many = make({});
    many.progress.start(21);
    expect(many.io.stderr).toContain('Returns: [0/21]');
    const quiet = make({ never: true });
    quiet.progress.start(21);
    expect(quiet.io.stderr).toBe('');
  });
  it('and erased before other output', () => {
    const { io, progress } = make({ asked: true });
    progress.start(2);
    progress.update({ done: 1, text: 'web1: unpacking' });
    progress.clear();
    progress.clear();
    expect(io.stderr.endsWith('web1: unpacking\r\x1b[K')).toBe(true);
  });
  it('as one last line without a terminal', () => {
    const { io, progress } = make({ asked: true, tty: false });
    progress.start(2);
    progress.update({ done: 2 });
    progress.end();
    expect(io.stderr).toBe('[####################] 100%  Returns: [2/2]\n');
  });
});
