// Every `cases.yaml` beside a state module: under test, applied, and applied again.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtinModules, builtinStates, readCases, runCase } from 'halite/testing';
import { describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('.', import.meta.url));
/** Functions that cases may really run on this machine; all others exist only where a case replaces them. */
const real = [
  ...['file', 'cmd', 'hashutil', 'config', 'pillar', 'grains', 'environ', 'test', 'ini_manage', 'archive', 'git'],
  'x509',
];

for (const name of readdirSync(folder).filter((item) => existsSync(join(folder, item, 'cases.yaml')))) {
  describe(`states ${name}`, async () => {
    const states = await builtinStates([...new Set([name, 'file'])]);
    const modules = await builtinModules(real);
    // Cases of git mostly wait for the program.
    const test = name === 'git' ? it.concurrent : it;
    test.each(readCases(join(folder, name, 'cases.yaml')).map((row) => [row.state, row.it, row] as const))(
      '%s: %s',
      async (_state, _it, row) => {
        const { got, wanted } = await runCase(row, { states, modules });
        expect(got).toEqual(wanted);
      },
    );
  });
}
