// itertools for templates: combinations, permutations, product, zip and compress, all lazy.
import { PyError, typeError, valueError } from '../errors.ts';
import { intOf } from '../filters/support.ts';
import { type FunctionTable, tableOf } from '../runtime/define.ts';
import { each, iterate, toArray, truth } from '../runtime/iterate.ts';
import { asInt } from '../runtime/number.ts';
import { PyIterator, PyTuple } from '../runtime/sequence.ts';
import type { PyValue } from '../runtime/value.ts';
import { defineCareful, defineCarefulBound } from './strict.ts';

function* choose(pool: readonly PyValue[], count: number, repeat: boolean, start = 0): Generator<PyValue[]> {
  if (count === 0) {
    yield [];
    return;
  }
  for (let at = start; at < pool.length; at += 1) {
    for (const rest of choose(pool, count - 1, repeat, repeat ? at : at + 1)) yield [pool[at]!, ...rest];
  }
}

function* permute(pool: readonly PyValue[], count: number): Generator<PyValue[]> {
  if (count === 0) {
    yield [];
    return;
  }
  for (let at = 0; at < pool.length; at += 1) {
    const others = [...pool.slice(0, at), ...pool.slice(at + 1)];
    for (const rest of permute(others, count - 1)) yield [pool[at]!, ...rest];
  }
}

function* multiply(pools: readonly (readonly PyValue[])[]): Generator<PyValue[]> {
  const [first, ...others] = pools;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const item of first) for (const rest of multiply(others)) yield [item, ...rest];
}

function* tuples(source: Iterable<PyValue[]>): Generator<PyValue> {
  for (const items of source) yield new PyTuple(items);
}

const lazy = (name: string, source: Iterable<PyValue[]>): PyIterator =>
  new PyIterator(name, tuples(source)[Symbol.iterator]());

function size(value: PyValue): number {
  const count = intOf(value);
  if (count < 0) throw valueError('r must be non-negative');
  return count;
}

function* zipped(sources: readonly PyValue[]): Generator<PyValue[]> {
  const iterators = sources.map(iterate);
  if (iterators.length === 0) return;
  for (;;) {
    const row: PyValue[] = [];
    for (const source of iterators) {
      const step = source.next();
      if (step.done) return;
      row.push(step.value);
    }
    yield row;
  }
}

function* zippedLongest(sources: readonly PyValue[], fill: PyValue): Generator<PyValue[]> {
  const iterators = sources.map(iterate);
  for (;;) {
    let open = false;
    const row = iterators.map((source) => {
      const step = source.next();
      if (step.done) return fill;
      open = true;
      return step.value;
    });
    if (!open) return;
    yield row;
  }
}

function* compressed(data: PyValue, selectors: PyValue): Generator<PyValue> {
  const flags = iterate(selectors);
  for (const item of each(data)) {
    const flag = flags.next();
    if (flag.done) return;
    if (truth(flag.value)) yield item;
  }
}

function refuse(name: string, named: ReadonlyMap<string, PyValue>, ...allowed: string[]): void {
  for (const key of named.keys()) {
    if (!allowed.includes(key)) throw new PyError('TypeError', `${name}() got an unexpected keyword argument`);
  }
}

export const itertoolsFilters: FunctionTable = tableOf({
  combinations: defineCareful('combinations', 'iterable, r', (_rt, pool, r) =>
    lazy('combinations', choose(toArray(pool!), size(r!), false)),
  ),
  combinations_with_replacement: defineCareful('combinations_with_replacement', 'iterable, r', (_rt, pool, r) =>
    lazy('combinations_with_replacement', choose(toArray(pool!), size(r!), true)),
  ),
  permutations: defineCareful('permutations', 'iterable, r=None', (_rt, pool, r) => {
    const items = toArray(pool!);
    if (r !== null && asInt(r!) === undefined) throw typeError('Expected int as r');
    return lazy('permutations', permute(items, r === null ? items.length : size(r!)));
  }),
  product: defineCarefulBound('product', '*args, **kwargs', (_rt, { rest, named }) => {
    refuse('product', named, 'repeat');
    const times = named.has('repeat') ? intOf(named.get('repeat')!) : 1;
    if (times < 0) throw valueError('repeat argument cannot be negative');
    // With repeat 0 the pools are not iterated.
    const pools = times === 0 ? [] : rest.map(toArray);
    return lazy('product', multiply(Array.from({ length: times }, () => pools).flat()));
  }),
  zip: defineCarefulBound('zip', '*args, **kwargs', (_rt, { rest, named }) => {
    refuse('zip', named, 'strict');
    return lazy('zip', zipped(rest));
  }),
  zip_longest: defineCarefulBound('zip_longest', '*args, **kwargs', (_rt, { rest, named }) => {
    refuse('zip_longest', named, 'fillvalue');
    return lazy('zip_longest', zippedLongest(rest, named.get('fillvalue') ?? null));
  }),
  compress: defineCareful(
    'compress',
    'data, selectors',
    (_rt, data, selectors) => new PyIterator('compress', compressed(data!, selectors!)),
  ),
});
