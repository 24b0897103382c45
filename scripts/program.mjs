// Runs a TypeScript program of test/ as one bundle: benchmarks, fuzzers, the soak.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { buildWhenNeeded, installDependencies, root } from './setup.mjs';

/**
 * In a bundle every file would have the folder of the bundle; helpers of tests search their files next to themselves.
 */
const ownFolders = {
  name: 'own-folders',
  setup: (bundler) =>
    bundler.onLoad({ filter: /[/]test[/].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('import.meta.dirname', JSON.stringify(dirname(path))),
      loader: 'ts',
    })),
};

/** Installs and builds what is missing, then runs the file below test/; returns its exit status. */
export async function runProgram(file, args) {
  installDependencies(console.error);
  buildWhenNeeded(console.error);
  // Inside the checkout, so that packages are found, and beside the built programs, which some start.
  const folder = mkdtempSync(join(root, 'dist', 'program-'));
  try {
    const outfile = join(folder, `${basename(file, '.ts')}.mjs`);
    await build({
      absWorkingDir: root,
      entryPoints: [file],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      plugins: [ownFolders],
    });
    return await new Promise((resolve) => {
      const child = spawn(process.execPath, [outfile, ...args], { stdio: 'inherit', cwd: root });
      // A terminal signals the child too; it ends itself, and so its folder is removed here.
      process.on('SIGINT', () => {});
      process.on('SIGTERM', () => child.kill('SIGTERM'));
      child.once('close', (code) => resolve(code ?? 1));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
