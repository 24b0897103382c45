// Differential fuzzing of the pillar: random trees compiled by Halite and by the code of a real master.

import { pyRepr } from '../../src/base/codec/python/index.ts';
import { dictOf, newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { PillarTree } from '../../src/engine/pillar/testing.ts';
import { askPython } from './fuzz.ts';
import { pillarGrains, pillarTree } from './pillar-trees.ts';

const referenceProgram = `
import sys, json, copy, logging, warnings
warnings.simplefilter('ignore'); logging.disable(logging.CRITICAL)
import salt.config, salt.pillar
grains = json.loads(next(sys.stdin))
base = salt.config.master_config(None)
def plain(v):
    if isinstance(v, dict): return {plain(k): plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)): return [plain(x) for x in v]
    return v
for line in sys.stdin:
    case = json.loads(line)
    opts = copy.deepcopy(base); opts.update(case['opts']); opts['cachedir'] = case['root'] + '/salt-cache'
    try:
        pillar = salt.pillar.Pillar(opts, copy.deepcopy(grains), grains['id'], case.get('saltenv'), pillar_override=case.get('override'), pillarenv=case.get('pillarenv'))
        answer = repr(plain(pillar.compile_pillar()))
    except Exception as exc:
        answer = '!' + type(exc).__name__ + ' ' + str(exc)
    print(json.dumps(answer.replace(case['root'], '<ROOT>')))
`;

const asValue = (data: unknown): Value => {
  if (Array.isArray(data)) return data.map(asValue);
  if (typeof data !== 'object' || data === null) return data as Value;
  return newDict(Object.entries(data).map(([key, item]): [string, Value] => [key, asValue(item)]));
};

export interface PillarDifference {
  readonly seed: number;
  readonly reference: string;
  readonly halite: string;
}

/** Compiles the trees of seeds with both, and gives those that differ; where the reference dies, ours must say so. */
export async function pillarDifferences(python: string, firstSeed: number, count: number): Promise<PillarDifference[]> {
  const cases = Array.from({ length: count }, (_, index) => pillarTree(firstSeed + index));
  const trees = cases.map(({ files }) => new PillarTree().write(files));
  try {
    const lines = cases.map(({ opts, saltenv, pillarenv, override }, at) => {
      const { root } = trees[at]!;
      const filled = JSON.parse(JSON.stringify(opts).replaceAll('<ROOT>', root)) as unknown;
      return { root, opts: filled, saltenv, pillarenv, override };
    });
    const asked = askPython<string>(python, referenceProgram, [pillarGrains, ...lines]);
    const ours: string[] = [];
    for (const [at, { opts, saltenv, pillarenv, override }] of cases.entries()) {
      const tree = trees[at]!;
      tree.opts = asValue(opts) as PlainDict;
      const given = override === undefined ? undefined : asValue(override);
      const grains = dictOf(Object.entries(asValue(pillarGrains) as PlainDict));
      const pillar = await tree.compile({ minionId: pillarGrains.id, grains, saltenv, pillarenv, override: given });
      ours.push(pyRepr(pillar).replaceAll(tree.root, '<ROOT>'));
    }
    const outcomes = await asked;
    if (outcomes.length !== count) throw new Error(`the reference ended after ${outcomes.length} of ${count} trees`);
    return outcomes.flatMap((reference, at) => {
      const halite = ours[at]!;
      const isSame = reference.startsWith('!') ? halite.includes("'_errors': [") : reference === halite;
      return isSame ? [] : [{ seed: firstSeed + at, reference, halite }];
    });
  } finally {
    for (const tree of trees) tree.remove();
  }
}
