// Memory is released once the program is idle.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** In a process of its own, because the flags hold for a whole process. */
async function run(script: string): Promise<string> {
  const made = await build({
    stdin: { contents: script, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
    ...{ bundle: true, platform: 'node', format: 'cjs', write: false, logLevel: 'silent' },
  });
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', made.outputFiles[0]!.text], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  return stdout.trim() || stderr;
}

const common = `
  import { keepHeapSmall, collectWhenIdle } from './small-heap.ts';
  let gone = false;
  const registry = new FinalizationRegistry(() => { gone = true; });
  (() => { const big = new Array(1_000_000).fill(0); registry.register(big, 1); })();
  const end = Date.now() + 30_000;
  const wait = () => { if (gone || Date.now() > end) { console.log(gone); process.exit(0); } setTimeout(wait, 20); };
`;

describe('collectWhenIdle', () => {
  it('collects what is no longer needed', async () => {
    expect(await run(`${common} keepHeapSmall(); collectWhenIdle(); wait();`)).toBe('true');
  });

  it('releases the pages of a fragmented heap before it becomes idle', async () => {
    const script = `
      import { getHeapSpaceStatistics } from 'node:v8';
      import { keepHeapSmall, collectWhenIdle } from './small-heap.ts';
      const old = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')!.physical_space_size;
      const all = [];
      for (let at = 0; at < 100_000; at++) all.push({ at, text: 'x' + at, list: [at] });
      const kept = all.filter(({ at }) => at % 10 === 0);
      all.length = 0;
      keepHeapSmall();
      const before = old();
      collectWhenIdle();
      const start = Date.now();
      const look = () => {
        const small = old() < before / 2;
        if (small || Date.now() - start > 4900) console.log(small, kept.length);
        else setTimeout(look, 20);
      };
      look();
    `;
    expect(await run(script)).toBe('true 10000');
  });
});

describe('collectBetweenSteps', () => {
  const script = (first: string): string => `
    import { keepHeapSmall, collectBetweenSteps } from './small-heap.ts';
    let gone = false;
    const registry = new FinalizationRegistry(() => { gone = true; });
    ${first}
    setTimeout(() => {
      (() => { const big = new Array(1_000_000).fill(0); registry.register(big, 1); })();
      collectBetweenSteps();
      setTimeout(() => console.log(gone), 50);
    }, 20);
  `;

  it('immediately collects the garbage of a step', async () => {
    expect(await run(script('keepHeapSmall();'))).toBe('true');
  });

  it('does nothing in programs without a small heap', async () => {
    expect(await run(script(''))).toBe('false');
  });
});

describe('boundGarbage', () => {
  it('stops the growth of the young generation', async () => {
    const script = `
      import { getHeapSpaceStatistics } from 'node:v8';
      import { boundGarbage } from './small-heap.ts';
      const young = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')!.physical_space_size;
      const passing = [];
      let left = 300;
      // What lives for some turns, as requests do.
      const turn = () => {
        passing.push(Array.from({ length: 2000 }, (_, at) => ({ at, text: 'y' + at })));
        if (passing.length > 20) passing.shift();
        if (--left > 0) setImmediate(turn);
        else console.log(young() >> 20);
      };
      boundGarbage();
      setImmediate(turn);
    `;
    // Without it: 26 MB and more.
    expect(Number(await run(script))).toBeLessThan(20);
  });
});
