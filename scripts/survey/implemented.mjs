// Every function the built-in loader knows, by kind.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { writeTable } from '../gen-builtin.mjs';
import { root } from '../setup.mjs';

async function names(table) {
  const found = new Set();
  for (const [file, entry] of Object.entries(table)) {
    const module = (await entry.load()).default;
    const prefix = entry.virtualName ?? module.virtualName ?? module.name ?? file;
    const own = [...Object.keys(module.functions), ...Object.keys(module.aliases ?? {})];
    for (const name of own) for (const start of new Set([prefix, module.name])) found.add(`${start}.${name}`);
  }
  return found;
}

/** `{states, modules}`: sets of `module.function`. */
export async function implemented() {
  writeTable();
  // Inside the checkout, so that packages are found.
  const folder = mkdtempSync(join(root, '.dist-coverage-'));
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
    return { states: await names(builtin.states), modules: await names(builtin.modules) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
