// States that change something in test mode are refused by the engine, and their cases fail.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineModule, defineState, fn, newDict, onlyReads, p, type StateContext, state } from 'halite/sdk';
import { writeFile } from 'halite/sdk/fs';
import { afterAll, describe, expect, it } from 'vitest';
import { applyState, runCase, type StateCase, testContext } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'test-mode-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The functions of the module under test: one that reads, one that changes, one that changes unless disabled. */
const things = defineModule({
  name: 'things',
  doc: 'Files as test resources.',
  reads: ['exists'],
  functions: {
    exists: fn({ doc: 'Whether it exists.', params: { path: p.path() }, run: ({ path }) => existsSync(path) }),
    make: fn({
      doc: 'Makes it.',
      params: { path: p.path(), dry_run: p.bool({ default: false }) },
      reads: ({ dry_run }) => dry_run,
      async run({ path, dry_run }) {
        if (!dry_run) await writeFile(path, '');
        return true;
      },
    }),
    lies: fn({
      doc: 'Is marked as read-only, but writes.',
      params: { path: p.path() },
      reads: true,
      run: ({ path }) => writeFile(path, '').then(() => true),
    }),
  },
});

/** A state function that does `change` in every mode, and reports what a correct one would. */
const careless = (change: (path: string, ctx: StateContext) => unknown) =>
  state({
    doc: 'Ignores test mode.',
    params: { name: p.path() },
    async run({ name }, ctx) {
      await change(name, ctx);
      return ctx.result({ result: ctx.test ? null : true, comment: 'made', changes: newDict([['new', name]]) });
    },
  });

const wrong = defineState({
  name: 'wrong',
  doc: 'States with an error.',
  functions: {
    calls: careless((path, ctx) => ctx.call<string>('things.make', path)),
    writes: careless((path) => writeFile(path, 'x')),
    runs: careless((path, ctx) => ctx.exec('touch', [path])),
    unseen: careless((path) => writeFileSync(path, 'x')),
    swallows: careless(async (path) => {
      try {
        await writeFile(path, 'x');
      } catch {}
    }),
    trusts: careless((path, ctx) => ctx.call<string>('things.lies', path)),
    nested: careless((path, ctx) => ctx.state('wrong.runs', { name: path })),
    asks: careless((path, ctx) => ctx.callWith<string>('things.make', [path], newDict([['dry_run', ctx.test]]))),
    asserts: careless((path, ctx) => onlyReads(() => ctx.exec('test', ['-e', path]))),
    reads: careless((path, ctx) => ctx.call<string>('things.exists', path)),
  },
});

const around = { states: [wrong], modules: [things] };
const apply = (fun: string, test: boolean) =>
  applyState({ ...around, test }, `wrong.${fun}`, { name: join(folder, fun) });
const caseOf = (fun: string): StateCase => ({
  it: 'is made',
  state: `wrong.${fun}`,
  args: { name: '{tmp}/made' },
  test: { result: null },
  apply: { result: true, comment: 'made', changes: { new: '{tmp}/made' } },
});

describe('a state that changes something in test mode', () => {
  it.each([
    ['calls', 'call things.make, which is not marked as reading only (reads: true)'],
    ['writes', `write ${join(folder, 'writes')}`],
    ['runs', 'run the program touch'],
  ])('is refused: %s', async (fun, what) => {
    const result = await apply(fun, true);
    expect(result).toMatchObject({ result: false, changes: {} });
    expect(result.comment).toContain(`wrong.${fun} tried to ${what} in test mode`);
    expect(existsSync(join(folder, fun))).toBe(false);
    expect(await apply(fun, false)).toMatchObject({ result: true, comment: 'made' });
    expect(existsSync(join(folder, fun))).toBe(true);
  });

  it.each(['calls', 'writes', 'runs', 'swallows', 'trusts', 'nested'])('fails its case: %s', async (fun) => {
    const { got, wanted } = await runCase(caseOf(fun), around);
    expect(got.apply).toEqual(wanted.apply);
    expect(got.test).not.toEqual(wanted.test);
  });

  it('is reported when it caught the error', async () => {
    const { warnings } = await apply('swallows', true);
    expect(warnings).toEqual([`wrong.swallows tried to write ${join(folder, 'swallows')} in test mode`]);
  });

  it('is refused when a function marked as read-only writes', async () => {
    expect((await apply('trusts', true)).comment).toContain('things.lies (called by wrong.trusts) tried to write');
  });

  it('fails its case even where nothing could refuse it', async () => {
    const { got, wanted } = await runCase(caseOf('unseen'), around);
    expect(got.test).toEqual(wanted.test);
    expect(got.touchedInTest).toEqual(['made']);
    expect(wanted.touchedInTest).toEqual([]);
  });
});

describe('what only reads in test mode', () => {
  it.each(['asks', 'asserts', 'reads'])('is allowed: %s', async (fun) => {
    const result = await apply(fun, true);
    expect(result).toMatchObject({ result: null, comment: 'made' });
    expect(result.warnings).toBeUndefined();
    expect(existsSync(join(folder, fun))).toBe(false);
  });

  it('does not restrict calls outside of states', async () => {
    const path = join(folder, 'outside');
    await testContext({ modules: [things], opts: { test: true } }).call<string>('things.make', path);
    expect(existsSync(path)).toBe(true);
  });
});

it('reports a mark for a function that does not exist', () => {
  expect(() => defineModule({ name: 'x', doc: '', functions: {}, reads: ['gone'] })).toThrow(
    'x: reads names gone, which is not among its functions',
  );
});
