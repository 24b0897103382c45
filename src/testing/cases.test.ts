// Which keys a case file may contain: a typing error must not make a case that tests nothing.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readCases, TestMinion } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-cases-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string): unknown {
  const file = join(folder, 'cases.yaml');
  writeFileSync(file, text);
  return readCases(file);
}

it('reads cases', () => {
  expect(read('- {it: works, state: test.nop, args: {name: x}, apply: {result: true}}')).toHaveLength(1);
});

it.each([
  ['{a: 1}', 'is not a list of cases'],
  ['- 5', 'case 1 is not a map'],
  ['- {it: typo, state: test.nop, args: {}, aply: {}}', 'case 1 (typo) has the unknown key aply'],
  ['- {it: short, args: {}, apply: {}}', 'case 1 (short) needs state and args'],
  [
    '- {it: inner, state: test.nop, args: {}, apply: {result: true, coment: x}}',
    'case 1 (inner) has the unknown key coment in apply; keys: result, comment,',
  ],
  [
    '- {it: ours, state: test.nop, args: {}, apply: {}, ours: {why: x, again: {chnges: {}}}}',
    'case 1 (ours) has the unknown key chnges in again',
  ],
  ['- {it: empty, state: test.nop, args: {}, test: false}', 'case 1 (empty) expects nothing'],
])('refuses %s', (text, problem) => {
  expect(() => read(text)).toThrow(problem);
});

it('refuses a folder of extensions that is none', () => {
  expect(() => new TestMinion({ extensions: '/nonexistent' })).toThrow(
    'The folder of extensions /nonexistent does not exist',
  );
  expect(() => new TestMinion({ extensions: folder })).toThrow(`${folder} has none of _modules, _states,`);
});

it('refuses a replacement that the file of a user would hide', () => {
  mkdirSync(join(folder, '_modules'));
  writeFileSync(join(folder, '_modules', 'ledger.ts'), 'export const get = () => 1;\n');
  const calls = { 'ledger.get': () => 'replaced' };
  expect(() => new TestMinion({ extensions: folder, calls })).toThrow('ledger.get cannot be replaced');
});
