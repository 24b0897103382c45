// What extensions import from Salt: the same expressions, evaluated with the package of Salt 3006.27 and with that of Halite by the
// same Python, have the same value.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { saltRelease } from '../support/salt-release.ts';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'test/support/python-library.py');
const fixtures = join(root, 'test/fixtures/python-library');

/** Expressions with their values, as text. */
function valuesWith(library: string): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'halite-python-library-'));
  try {
    const python = join(saltRelease('3006.27').bin, 'python');
    const files = readdirSync(fixtures).map((name) => join(fixtures, name));
    const said = execFileSync(python, ['-I', '-W', 'ignore', program, library, folder, ...files], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return new Map(
      said
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as [string, string]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it('is the same in the package of Halite', () => {
  const salt = valuesWith('-');
  const halite = valuesWith(join(root, 'python'));
  expect(salt.size).toBeGreaterThan(400);
  const other = [...salt]
    .filter(([expression, value]) => halite.get(expression) !== value)
    .map(([expression, value]) => ({ expression, salt: value, halite: halite.get(expression) }));
  expect(other).toEqual([]);
});
