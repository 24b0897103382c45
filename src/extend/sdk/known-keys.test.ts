// Declarations of extensions with a key that nobody reads are refused where they are made.
import { expect, it } from 'vitest';
import { HaliteError } from '../../base/errors/index.ts';
import * as sdk from './index.ts';

const { fn, masterFn, p, state } = sdk;
const run = (): never => {
  throw new Error('not called');
};
const more = { bogus: 1 };

it.each<[string, () => unknown]>([
  ['defineModule() web', () => sdk.defineModule({ name: 'web', doc: '', functions: {}, ...more })],
  ['defineState() web', () => sdk.defineState({ name: 'web', doc: '', functions: {}, ...more })],
  ['defineRunner() web', () => sdk.defineRunner({ name: 'web', doc: '', functions: {}, ...more })],
  ['defineWheel() web', () => sdk.defineWheel({ name: 'web', doc: '', functions: {}, ...more })],
  ['defineGrain() web', () => sdk.defineGrain({ name: 'web', doc: '', collect: run, ...more })],
  ['defineOutputter() web', () => sdk.defineOutputter({ name: 'web', doc: '', render: run, ...more })],
  [
    'defineRenderer() web',
    () => sdk.defineRenderer({ name: 'web', doc: '', input: 'text', output: 'text', render: run, ...more }),
  ],
  ['definePillar() web', () => sdk.definePillar({ name: 'web', doc: '', params: {}, compile: run, ...more })],
  ['defineReturner() web', () => sdk.defineReturner({ name: 'web', doc: '', options: {}, open: run, ...more })],
  ['defineBeacon() web', () => sdk.defineBeacon({ name: 'web', doc: '', open: run, ...more })],
  ['defineTops() web', () => sdk.defineTops({ name: 'web', doc: '', assign: run, ...more })],
  ['defineSdb() web', () => sdk.defineSdb({ name: 'web', doc: '', get: run, ...more })],
  ['defineSerializer() web', () => sdk.defineSerializer({ name: 'web', doc: '', serialize: run, ...more })],
  ['fn() "Does it."', () => fn({ doc: 'Does it.\nWell.', run, ...more })],
  ['masterFn() "Does it."', () => masterFn({ doc: 'Does it.', run, ...more })],
  ['state() "Does it."', () => state({ doc: 'Does it.', run, ...more })],
  ['p.string() "who"', () => p.string({ doc: 'who', ...more })],
  ['p.int()', () => p.int({ default: 1, ...more })],
  ['p.oneOf()', () => p.oneOf(['int'], { doc: '', ...more })],
  ['p.truthy()', () => p.truthy({ doc: '', ...more })],
])('%s', (what, make) => {
  expect(make).toThrow(HaliteError);
  expect(make).toThrow(`${what} has the unknown key bogus: it takes `);
});

it('says which key was probably meant', () => {
  const misspelt = { virtualname: 'pkg' };
  expect(() => sdk.defineModule({ name: 'web', doc: '', functions: {}, ...misspelt })).toThrow(
    'defineModule() web has the unknown key virtualname: did you mean virtualName?',
  );
  expect(() => fn({ doc: '', run, ...{ parms: {} } })).toThrow('fn() has the unknown key parms: did you mean params?');
});

it('keeps the keys of lists of texts to these', () => {
  expect(p.strings({ split: ',' }).split).toBe(',');
  expect(() => p.string({ doc: '', ...{ split: ',' } })).toThrow('p.string() has the unknown key split');
});
