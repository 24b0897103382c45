// Every `cases.yaml` beside a state module: under test, applied, and applied again.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StateModule } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { loadModules, readCases, runCase } from './_cases.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const modulesFolder = join(here, '../modules');
const real = [
  'file',
  'cmd',
  'hashutil',
  'config',
  'pillar',
  'grains',
  'environ',
  'test',
  'ini_manage',
  'archive',
  'git',
  'x509',
];

async function stateModule(name: string): Promise<StateModule> {
  return ((await import(join(here, name, 'index.ts'))) as { default: StateModule }).default;
}

for (const name of readdirSync(here).filter((folder) => existsSync(join(here, folder, 'cases.yaml')))) {
  describe(`states ${name}`, async () => {
    const states = [await stateModule(name), await stateModule('file')];
    const modules = await loadModules(modulesFolder, real);
    // Those of git mostly wait for the program.
    const test = name === 'git' ? it.concurrent : it;
    test.each(readCases(join(here, name, 'cases.yaml')).map((row) => [row.state, row.it, row] as const))(
      '%s: %s',
      async (_state, _it, row) => {
        const { got, wanted } = await runCase(row, states, modules);
        expect(got).toEqual(wanted);
      },
    );
  });
}
