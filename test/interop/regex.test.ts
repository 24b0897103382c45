// Bounded expressions against the Python that real Salt runs on: thousands of random ones, others with another seed.
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { boundedRegex } from '../../src/base/util/bounded-regex.ts';
import { runProgram } from '../support/deployment.ts';
import { type SaltVersion, saltRelease } from '../support/salt-release.ts';

type Row = readonly [pattern: string, texts: readonly string[], expected: string | null];
const versions: SaltVersion[] = ['3006.27', '3008.2'];

/** For each text three digits: match, search, fullmatch; null for what is no expression. */
function weSay([pattern, texts]: Row): string | null {
  try {
    const forms = (['match', 'search', 'full'] as const).map((form) => boundedRegex(pattern, form));
    return texts.map((text) => forms.map((form) => Number(form.test(text))).join('')).join(' ');
  } catch {
    return null;
  }
}

/** Some seeds have expressions for which Python needs minutes, and which ours refuses: by hand. */
const seed = Number(process.env['HALITE_REGEX_SEED'] ?? 7);

it.each(versions)('gives the same results as re of Salt %s', async (version) => {
  const script = resolve(import.meta.dirname, '../fixtures/python-match/record-regex.py');
  const python = join(saltRelease(version).bin, 'python');
  const { stdout, stderr } = await runProgram(python, [script, String(seed), '3000'], { timeoutMs: 150_000 });
  if (!stdout.startsWith('[')) throw new Error(stderr.slice(-2000));
  const rows = JSON.parse(stdout) as Row[];
  const wrong = rows.filter((row) => weSay(row) !== row[2]).map((row) => [row, weSay(row)]);
  expect([rows.length, `seed ${seed}`, wrong]).toEqual([3000, `seed ${seed}`, []]);
});
