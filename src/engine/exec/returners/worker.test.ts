// The process of returners as seen by the daemon: started when needed, ended when idle, replaced when it dies.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { newDict } from '../../../base/codec/value.ts';
import { ReturnerWorker } from './worker.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-worker-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const data = (version: string) => ({ version, id: 'm1', sdkUrl: undefined, body: new Uint8Array() });
const notes = (name: string) => {
  const file = join(folder, `${name}.log`);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

/** A program that records its messages and does `act` with them. */
function program(name: string, act: string): string {
  const file = join(folder, `${name}.mjs`);
  const log = JSON.stringify(join(folder, `${name}.log`));
  writeFileSync(
    file,
    `import { appendFileSync } from 'node:fs';
     const note = (text) => appendFileSync(${log}, text + '\\n');
     note('start');
     process.on('disconnect', () => { note('disconnect'); process.exit(0); });
     process.on('message', (message) => { note(message.t); ${act} });`,
  );
  return file;
}
const answering = `if (message.t === 'keep') process.send({ t: 'kept', n: message.n, body: new Uint8Array([0x90]) });
  if (message.t === 'end') process.exit(0);`;

describe('the process of returners', () => {
  it('is reused, gets changed data once, and ends when idle', async () => {
    const worker = new ReturnerWorker({ entry: program('good', answering), log: silent, idleMs: 50 });
    const save = (version: string) => worker.save(data(version), { names: ['x'] }, newDict());
    expect(await Promise.all([save('1'), save('1')])).toEqual([[], []]);
    expect(await save('2')).toEqual([]);
    expect(notes('good')).toEqual(['start', 'data', 'keep', 'keep', 'data', 'keep']);
    await expect.poll(() => notes('good').at(-1), { timeout: 30_000 }).toBe('end');
    expect(await save('2')).toEqual([]);
    expect(notes('good').filter((line) => line === 'start')).toHaveLength(2);
    worker.stop();
  });

  it('that dies is reported for each of its results, and is replaced', async () => {
    const entry = program('weak', `if (message.t === 'keep') process.exit(3);`);
    const worker = new ReturnerWorker({ entry, log: silent, idleMs: 60_000 });
    const save = () => worker.save(data('1'), { names: ['a', 'b'] }, newDict());
    const error = 'its process ended (3)';
    expect(await save()).toEqual([
      { returner: 'a', error },
      { returner: 'b', error },
    ]);
    expect(await save()).toHaveLength(2);
    expect(notes('weak').filter((line) => line === 'start')).toHaveLength(2);
  });

  it('is detached when the daemon stops', async () => {
    const worker = new ReturnerWorker({ entry: program('busy', ''), log: silent, idleMs: 60_000 });
    const saving = worker.save(data('1'), { names: ['a'] }, newDict());
    await expect.poll(() => notes('busy').includes('keep'), { timeout: 30_000 }).toBe(true);
    worker.stop();
    expect(await saving).toEqual([{ returner: 'a', error: 'the minion stopped' }]);
    await expect.poll(() => notes('busy').includes('disconnect'), { timeout: 30_000 }).toBe(true);
  });
});
