// Scripts that run before `npm install` may import only Node and their own files.
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const here = dirname(fileURLToPath(import.meta.url));
const first = ['test.mjs', 'start.mjs', 'check.mjs', 'prepare/main.mjs'];

function imported(file: string, seen: Map<string, string[]>): void {
  if (seen.has(file)) return;
  const found = [...readFileSync(file, 'utf8').matchAll(/^(?:import|export)\s(?:[^'"]*?\sfrom\s)?'([^']+)'/gm)].map(
    ([, specifier]) => String(specifier),
  );
  seen.set(file, found);
  for (const specifier of found) if (specifier.startsWith('.')) imported(resolve(dirname(file), specifier), seen);
}

it.each(first)('%s needs no package', (name) => {
  const seen = new Map<string, string[]>();
  imported(resolve(here, name), seen);
  const packages = [...seen].flatMap(([file, found]) =>
    found.filter((one) => !/^(?:node:|\.)/.test(one)).map((one) => `${relative(here, file)} imports ${one}`),
  );
  expect(packages).toEqual([]);
  expect(seen.size).toBeGreaterThan(1);
});
