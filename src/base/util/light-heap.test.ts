// Memory is given back once nothing happens.
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
  import { stayLight, tidySoon } from './light-heap.ts';
  let gone = false;
  const registry = new FinalizationRegistry(() => { gone = true; });
  (() => { const big = new Array(1_000_000).fill(0); registry.register(big, 1); })();
  const end = Date.now() + 30_000;
  const wait = () => { if (gone || Date.now() > end) { console.log(gone); process.exit(0); } setTimeout(wait, 20); };
`;

describe('tidySoon', () => {
  it('collects what is no longer needed', async () => {
    expect(await run(`${common} stayLight(); tidySoon(); wait();`)).toBe('true');
  });
});
