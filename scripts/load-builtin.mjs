// Sources in TypeScript for programs, above all the table of built-in extensions: bundled, imported, and removed again.
import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeTable } from './gen-builtin.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The result of `use` with the table; its modules are loaded while it runs. */
export function withBuiltin(use) {
  writeTable();
  return withBundle('src/extend/loader/builtin.gen.ts', ({ builtin }) => use(builtin));
}

/** The exports of a file in TypeScript that imports nothing later. */
export const bundled = (file) => withBundle(file, (exported) => exported);

/** The exports of a file in TypeScript, for as long as `use` runs. */
export async function withBundle(file, use) {
  // Not imported earlier: in a new checkout there are no packages yet.
  const { build } = await import('esbuild');
  // Inside the checkout, so that packages are found.
  const folder = mkdtempSync(join(root, '.dist-table-'));
  try {
    await build({
      absWorkingDir: root,
      stdin: {
        contents: `export * from './${file}';`,
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
    return await use(await import(pathToFileURL(join(folder, 'table.mjs')).href));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
