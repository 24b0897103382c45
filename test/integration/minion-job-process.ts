// Builds a job process for tests: only users' own extensions, so that it does not depend on the built-in ones.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface TestJobProcess {
  readonly folder: string;
  readonly entry: string;
  /** A folder for `module_dirs`. */
  readonly modules: string;
  /** What `halite/sdk` is for the modules. */
  readonly sdkUrl: string;
  remove(): void;
}

/** `modules`: file name → source. */
export async function buildJobProcess(modules: Record<string, string>): Promise<TestJobProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'halite-job-'));
  const source = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  await build({
    entryPoints: {
      'job-process': source('../../src/minion/jobs/job-process.ts'),
      sdk: source('../../src/extend/sdk/index.ts'),
    },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    plugins: [
      {
        name: 'no-built-ins',
        setup: (b) => b.onLoad({ filter: /builtin\.gen\.ts$/ }, () => ({ contents: 'export const builtin = {};' })),
      },
    ],
  });
  mkdirSync(join(folder, 'modules'));
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, 'modules', name), text);
  return {
    folder,
    entry: join(folder, 'job-process.mjs'),
    modules: join(folder, 'modules'),
    sdkUrl: `file://${join(folder, 'sdk.mjs')}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
