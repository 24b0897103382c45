// Requisites compared with an independent model of their meaning, on random graphs without cycles.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { YamlTreeMinion } from './testing.ts';

const kinds = ['require', 'watch', 'onchanges', 'onfail', 'require_any', 'onchanges_any'] as const;
type Kind = (typeof kinds)[number];
interface Spec {
  readonly succeeds: boolean;
  readonly changes: boolean;
  readonly kind: Kind;
  /** States it names, by position in a hidden acyclic order. */
  readonly targets: readonly number[];
  readonly written: 'forward' | 'in';
}

interface Expected {
  readonly verdict: 'run' | 'watch' | 'skip' | 'fail';
  readonly result: boolean;
  readonly changed: boolean;
}

/** The documented behaviour, state by state in the hidden order. */
function account(specs: readonly Spec[]): Expected[] {
  const done: Expected[] = [];
  for (const spec of specs) {
    const others = spec.targets.map((at) => done[at]!);
    const verdict = others.length === 0 ? 'run' : judge(spec, others);
    if (verdict === 'fail') done.push({ verdict, result: false, changed: false });
    else if (verdict === 'skip') done.push({ verdict, result: true, changed: false });
    else
      done.push({
        verdict,
        result: verdict === 'watch' || spec.succeeds,
        changed: verdict === 'watch' || spec.changes,
      });
  }
  return done;
}

function judge({ kind, changes }: Spec, others: readonly Expected[]): Expected['verdict'] {
  const failed = others.some((other) => !other.result);
  const changed = others.some((other) => other.changed && other.result);
  const fine = others.some((other) => other.result && other.verdict !== 'skip');
  switch (kind) {
    case 'require':
      return failed ? 'fail' : 'run';
    case 'watch':
      return failed ? 'fail' : changed && !changes ? 'watch' : 'run';
    case 'onchanges':
      return failed ? 'fail' : changed ? 'run' : 'skip';
    case 'onfail':
      return failed ? 'run' : 'skip';
    case 'require_any':
      return fine || !failed ? 'run' : 'fail';
    case 'onchanges_any':
      return changed ? 'run' : failed ? 'fail' : 'skip';
  }
}

const tree = fc.integer({ min: 1, max: 14 }).chain((count) =>
  fc.record({
    specs: fc.tuple(
      ...Array.from({ length: count }, (_, at) =>
        fc.record({
          succeeds: fc.boolean(),
          changes: fc.boolean(),
          kind: fc.constantFrom(...kinds),
          targets: at === 0 ? fc.constant([]) : fc.uniqueArray(fc.integer({ min: 0, max: at - 1 }), { maxLength: 4 }),
          written: fc.constantFrom('forward' as const, 'in' as const),
        }),
      ),
    ),
    // The order in which they are written is independent of the order of dependencies.
    order: fc.shuffledSubarray(
      Array.from({ length: count }, (_, at) => at),
      { minLength: count, maxLength: count },
    ),
  }),
);

function highOf(specs: readonly Spec[], order: readonly number[]): PlainDict {
  const args = specs.map((spec): Value[] => [
    `${spec.succeeds ? 'succeed' : 'fail'}_${spec.changes ? 'with' : 'without'}_changes`,
    newDict([['order', order.indexOf(specs.indexOf(spec)) + 1]]),
  ]);
  for (const [at, { kind, targets, written }] of specs.entries()) {
    if (targets.length === 0) continue;
    // There is no `_any_in`.
    if (written === 'forward' || kind.endsWith('_any')) {
      args[at]!.push(newDict([[kind, targets.map((target) => newDict([['test', `s${target}`]]))]]));
    } else {
      for (const target of targets) args[target]!.push(newDict([[`${kind}_in`, [newDict([['test', `s${at}`]])]]]));
    }
  }
  return newDict(
    specs.map(
      (_, at) =>
        [
          `s${at}`,
          newDict([
            ['test', args[at]!],
            ['__sls__', 'x'],
            ['__env__', 'base'],
          ]),
        ] as const,
    ),
  );
}

const comments: Readonly<Record<'skip' | 'fail' | 'watch', RegExp>> = {
  skip: /^State was not run because/,
  fail: /^One or more requisite failed: /,
  watch: /^Watch statement fired\.$/,
};

describe('requisites', () => {
  it('run in an order that respects them', async () => {
    const minion = new YamlTreeMinion({ files: {} });
    await fc.assert(
      fc.asyncProperty(tree, async ({ specs, order }) => {
        const run = await minion.open();
        const results = (await run.apply.high(highOf(specs, order))).return as Record<string, PlainDict>;
        const expected = account(specs);
        const byId = new Map(Object.values(results).map((result) => [result['__id__'], result]));
        expect(byId.size).toBe(specs.length);
        for (const [at, { verdict, result }] of expected.entries()) {
          const found = byId.get(`s${at}`)!;
          expect([`s${at}`, found['result']]).toEqual([`s${at}`, result]);
          if (verdict !== 'run') expect(found['comment']).toMatch(comments[verdict]);
          for (const target of specs[at]!.targets) {
            expect(byId.get(`s${target}`)!['__run_num__']).toBeLessThan(found['__run_num__'] as number);
          }
        }
      }),
      { numRuns: 300 },
    );
    minion.remove();
  });

  it('keep states without requisites in the order of their numbers', async () => {
    const minion = new YamlTreeMinion({ files: {} });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: 99_999 }), { minLength: 1, maxLength: 30 }),
        async (numbers) => {
          const high = newDict(
            numbers.map(
              (order) =>
                [
                  `s${order}`,
                  newDict([
                    ['test', ['nop', newDict([['order', order]])]],
                    ['__sls__', 'x'],
                    ['__env__', 'base'],
                  ]),
                ] as const,
            ),
          );
          const results = (await (await minion.open()).apply.high(high)).return as Record<string, PlainDict>;
          const ids = Object.values(results).map((result) => Number(String(result['__id__']).slice(1)));
          expect(ids).toEqual([...numbers].sort((a, b) => a - b));
        },
      ),
      { numRuns: 50 },
    );
    minion.remove();
  });
});
