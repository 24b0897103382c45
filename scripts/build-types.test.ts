// The package as an author of extensions sees it: every whole example of the guides compiles strictly against its declarations.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'halite-author-'));
const halite = join(project, 'node_modules/halite');
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** TypeScript in the guides that is a file of its own: it imports what it uses. */
function examples(): Record<string, string> {
  const found: Record<string, string> = {};
  for (const page of readdirSync(join(root, 'docs/guide')).filter((name) => name.endsWith('.md'))) {
    const blocks = readFileSync(join(root, 'docs/guide', page), 'utf8').matchAll(/^```ts\n(.*?)^```/gms);
    for (const [index, [, code = '']] of [...blocks].entries())
      if (/^import /m.test(code)) found[`${page.replace('.md', '')}-${index + 1}.ts`] = code;
  }
  return found;
}

function compile(files: Record<string, string>): string {
  rmSync(join(project, 'salt'), { recursive: true, force: true });
  mkdirSync(join(project, 'salt'));
  for (const [name, code] of Object.entries(files)) writeFileSync(join(project, 'salt', name), code);
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  const sources = Object.keys(files).map((name) => join('salt', name));
  const args = [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...sources];
  return spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' }).stdout;
}

beforeAll(() => {
  mkdirSync(halite, { recursive: true });
  copyFileSync(join(root, 'package.json'), join(halite, 'package.json'));
  const built = spawnSync(process.execPath, [join(root, 'scripts/build-types.mjs'), join(halite, 'dist/types')]);
  expect(String(built.stderr)).toBe('');
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  for (const name of ['@types', 'undici-types', 'vitest', '@vitest', 'vite'])
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
}, 120_000);

it('compiles the examples of the guides', () => {
  const files = examples();
  expect(Object.keys(files).length).toBeGreaterThan(8);
  expect(compile(files)).toBe('');
});

it('reports what does not fit', () => {
  const wrong = `import { defineModule, fn, p } from 'halite/sdk';
import { TestMinion } from 'halite/testing';
import { readFile } from 'halite/sdk/fs';
export default defineModule({
  name: 'wrong',
  doc: '',
  functions: { f: fn({ doc: '', params: { n: p.int() }, run: ({ n }) => n.length }) },
});
export const text: number = await readFile('/x', 'utf8');
export const minion = new TestMinion({ extension: 'x' });
`;
  const said = compile({ 'wrong.ts': wrong });
  expect(said).toContain("Property 'length' does not exist on type 'number'");
  expect(said).toContain("Type 'string' is not assignable to type 'number'");
  expect(said).toContain("'extension' does not exist in type 'TestMinionOptions'");
});
