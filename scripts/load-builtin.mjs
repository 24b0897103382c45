// The table of built-in extensions for programs: bundled, imported, and removed again.
import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeTable } from './gen-builtin.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The result of `use` with the table; its modules are loaded while it runs. */
export async function withBuiltin(use) {
  // Not imported earlier: in a new checkout there are no packages yet.
  const { build } = await import('esbuild');
  writeTable();
  // Inside the checkout, so that packages are found.
  const folder = mkdtempSync(join(root, '.dist-table-'));
  try {
    await build({
      absWorkingDir: root,
      stdin: {
        contents: "export { builtin } from './src/extend/loader/builtin.gen.ts';",
        resolveDir: root,
        loader: 'ts',
      },
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      entryNames: 'table',
      bundle: true,
      splitting: true,
      packages: 'external',
      tsconfig: join(root, 'tsconfig.json'),
      format: 'esm',
      platform: 'node',
      logLevel: 'warning',
    });
    const { builtin } = await import(pathToFileURL(join(folder, 'table.mjs')).href);
    return await use(builtin);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
