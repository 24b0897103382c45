// `npm run bench`: builds, then runs a benchmark of test/bench/ (default: foundation) as one bundled program.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { buildWhenNeeded, installDependencies, root } from './setup.mjs';

/** In a bundle every file would have the folder of the bundle; helpers of tests look for their files beside themselves. */
const ownFolders = {
  name: 'own-folders',
  setup: (bundler) =>
    bundler.onLoad({ filter: /[/]test[/].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('import.meta.dirname', JSON.stringify(dirname(path))),
      loader: 'ts',
    })),
};

installDependencies(console.error);
buildWhenNeeded(console.error);
const name = process.argv[2] ?? 'foundation';
// Inside the checkout, so that packages are found, and beside the built programs, which some benchmarks start.
const folder = mkdtempSync(join(root, 'dist', 'bench-'));
try {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [`test/bench/${name}.ts`],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['zeromq', 'better-sqlite3', 'mysql2', 'pg', 'ioredis', 'mongodb', 'kafkajs', 'nodemailer', 'sucrase'],
    alias: { 'halite/sdk': join(root, 'src/extend/sdk/index.ts') },
    plugins: [ownFolders],
  });
  process.exitCode = spawnSync(process.execPath, [outfile], { stdio: 'inherit', cwd: root }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
