// Builds dist/: one bundle per command and worker, shared code in chunks, extensions loaded on first use.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { writeTable } from './gen-builtin.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Output name → source file, below src/. */
export const entries = {
  salt: 'cli/salt.ts',
  'salt-call': 'cli/salt-call.ts',
  'salt-cp': 'cli/salt-cp.ts',
  'salt-key': 'cli/salt-key.ts',
  'salt-master': 'cli/salt-master.ts',
  'salt-minion': 'cli/salt-minion.ts',
  'salt-run': 'cli/salt-run.ts',
  'job-process': 'engine/exec/job-process.ts',
  'store-writer': 'store/sqlite/writer.ts',
  'store-reader': 'store/sqlite/reader.ts',
  sdk: 'extend/sdk/index.ts',
};

export async function buildAll() {
  writeTable();
  rmSync(`${root}dist`, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, `src/${file}`])),
    outdir: 'dist',
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['zeromq', 'better-sqlite3'],
    alias: { 'halite/sdk': `${root}src/extend/sdk/index.ts` },
    minifySyntax: true,
    legalComments: 'none',
    sourcemap: 'linked',
    logLevel: 'warning',
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll();
