// What the author of an extension reads when something is wrong with it: the reason and the place, and no more.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeSet, commandError, defineState, p, resource, state } from 'halite/sdk';
import { replaceFile, withOsErrors } from 'halite/sdk/fs';
import { afterAll, expect, it } from 'vitest';
import { applyState, TestMinion } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-errors-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, '_states'));
mkdirSync(join(folder, '_modules'));
const file = (path: string, text: string): void => writeFileSync(join(folder, path), text);
file(
  '_states/nope.ts',
  "export default { kind: 'states', name: 'nope', doc: '', functions: {}, available: () => 'there is no nope program' };\n",
);
file('_states/other.ts', "export default { kind: 'states', name: 'another', doc: '', functions: {} };\n");
file('_modules/bad.ts', "\nexport function broken(): void {\n  throw new Error('not expected');\n}\n");

const minion = new TestMinion({ extensions: folder });
const single = async (fun: string): Promise<string> => String((await minion.run('state.single', [fun, 'x'])).return);

it('state.single says why a state is not available', async () => {
  expect(await single('nope.present')).toBe(
    "Specified state 'nope.present' was not found,Reason: 'nope' __virtual__ returned False: there is no nope program",
  );
  expect(await single('other.present')).toContain('its name is another, but the file is called other.ts');
});

it('state.single says no more than Salt about a state that does not exist', async () => {
  expect(await single('nowhere.present')).toBe("Specified state 'nowhere.present' was not found");
});

it('a trace names the file of the extension', async () => {
  const { return: trace } = await minion.run('bad.broken');
  expect(trace).toContain(`  File "${join(folder, '_modules/bad.ts')}", line 3, in `);
  expect(trace).not.toContain('data:');
});

it('the log of a test minion has the fields', async () => {
  await single('other.present');
  expect(minion.logged.find((line) => line.startsWith('extension disabled'))).toMatch(
    /kind=states origin=\S+_states\/other\.ts problem=".*its name is another/,
  );
});

const missing = join(folder, 'no/such/file');
const failures = {
  command: () => Promise.reject(commandError('the command failed')),
  node: () => replaceFile(missing, 'x'),
  python: () => withOsErrors(missing, () => replaceFile(missing, 'x')),
  bug: () => Promise.reject(new TypeError('a mistake')),
};
const params = { name: p.string(), kind: p.string({ default: 'node' }), value: p.string({ default: '' }) };
const change = (kind: string) => () => failures[kind as keyof typeof failures]();
const faulty = defineState({
  name: 'faulty',
  doc: 'States that fail.',
  functions: {
    one: state({
      doc: 'One thing.',
      params,
      run: ({ kind }, ctx) =>
        resource(ctx, { would: '', change: change(kind), error: (message, during) => `${during}: ${message}` }),
    }),
    set: state({
      doc: 'A set.',
      params,
      run: ({ kind }, ctx) =>
        changeSet(ctx, {
          each: async (set) => void (await set.part({ change: change(kind) })),
          error: (message) => `set: ${message}`,
        }),
    }),
    typo: state({
      doc: 'An unknown key.',
      params,
      run: (_, ctx) => resource(ctx, { would: '', change: () => true, whould: '' } as never),
    }),
  },
});
const comment = async (fun: string, kwargs: Record<string, string | string[]>): Promise<string> =>
  String((await applyState({ states: [faulty] }, `faulty.${fun}`, { name: 'x', ...kwargs })).comment);

it.each([
  ['command', 'the command failed'],
  ['node', `ENOENT: no such file or directory, open '${missing}'`],
  ['python', `[Errno 2] No such file or directory: '${missing}'`],
])('`error` of resource() and changeSet() gets what fails: %s', async (kind, text) => {
  expect(await comment('one', { kind })).toBe(`change: ${text}`);
  expect(await comment('set', { kind })).toBe(`set: ${text}`);
});

it('`error` does not hide mistakes in the code', async () => {
  expect(await comment('one', { kind: 'bug' })).toMatch(/^An exception occurred.*\nTypeError: a mistake\n$/s);
});

it('arguments of a state that do not fit, and unknown keys, need no trace', async () => {
  expect(await comment('one', { value: ['a', 'b'] })).toBe("one() argument 'value' must be text, not ['a', 'b']");
  expect(await comment('typo', {})).toBe('resource() has the unknown key whould: did you mean would?');
});
