// Writes dist/types/: declarations of what extensions import (`halite/sdk`, its parts, `halite/testing`), for the compilers of
// their authors. Part of packing, not of every build: nothing that runs needs it. An argument names another folder.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programs } from './build.mjs';
import { writeTable } from './gen-builtin.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const importOfSource = /((?:from|import\()\s*')(\.{1,2}\/[^']+)\.ts'/g;

/** Declarations of everything the entries lead to; `package.json` names them below `exports`. */
function buildTypes(folder) {
  writeTable();
  const scratch = mkdtempSync(join(tmpdir(), 'halite-types-'));
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const args = [compiler, '-p', join(root, 'tsconfig.types.json'), '--outDir', scratch];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the declarations cannot be written:\n${stdout}`);
    rmSync(folder, { recursive: true, force: true });
    const entries = Object.values(programs).filter((file) => /^(?:extend\/sdk|testing)\//.test(file));
    for (const file of reachable(scratch, entries.map(declarationOf))) {
      const target = join(folder, file);
      mkdirSync(dirname(target), { recursive: true });
      // Only files with types are in the package: what was imported as x.ts is x.d.ts there, which is found as x.js.
      writeFileSync(target, readFileSync(join(scratch, file), 'utf8').replace(importOfSource, "$1$2.js'"));
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const declarationOf = (file) => file.replace(/\.ts$/, '.d.ts');

/** The files that the entries import, directly and by way of others. */
function reachable(folder, entries) {
  const found = new Set(entries);
  for (const file of found) {
    for (const [, , path] of readFileSync(join(folder, file), 'utf8').matchAll(importOfSource))
      found.add(join(dirname(file), `${path}.d.ts`));
  }
  return found;
}

buildTypes(process.argv[2] ?? join(root, 'dist/types'));
