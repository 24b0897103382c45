// Runner `survey`: groups minions by equal answers, and shows how the others differ.
import {
  defineRunner,
  HaliteError,
  type MasterContext,
  masterFn,
  newDict,
  type PlainDict,
  p,
  pyRepr,
  pyStr,
  type Value,
} from 'halite/sdk';
import { unifiedDiff } from 'halite/sdk/text';
import { resultsOf } from './shared/results.ts';

interface Pool {
  readonly pool: string[];
  readonly result: string;
}

const params = {
  args: p.rest({ doc: 'target, function, arguments' }),
  kwargs: p.kwargs({ doc: 'survey_sort=up or down, tgt_type=compound or pcre; the rest goes to the function' }),
};

async function pools(ctx: MasterContext, args: readonly Value[], kwargs: PlainDict): Promise<Pool[]> {
  const [tgt, fun, ...arg] = args;
  if (tgt === undefined || fun === undefined) {
    throw new HaliteError(
      'call.arguments',
      'survey needs a target and a function: salt-run survey.hash <target> <function> …',
    );
  }
  const own = new Set(['survey_sort', 'tgt_type']);
  const passed = Object.entries(kwargs).filter(([name]) => !own.has(name) && !name.startsWith('_'));
  const results = await resultsOf(ctx, {
    tgt: pyStr(tgt),
    tgt_type: kwargs['tgt_type'] === 'pcre' ? 'pcre' : 'compound',
    fun: pyStr(fun),
    arg,
    kwargs: newDict(passed),
  });
  const byResult = new Map<string, Pool>();
  for (const id of Object.keys(results).sort()) {
    const result = pyStr(results[id] ?? null);
    const pool = byResult.get(result) ?? { pool: [], result };
    pool.pool.push(id);
    byResult.set(result, pool);
  }
  const direction = kwargs['survey_sort'] === 'up' ? 1 : -1;
  return [...byResult.values()].sort((a, b) => direction * (a.pool.length - b.pool.length));
}

const asData = (found: readonly Pool[]): Value =>
  found.map(({ pool, result }) =>
    newDict([
      ['pool', pool],
      ['result', result],
    ]),
  );

const lines = (text: string): string[] =>
  text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => `${line}\n`);

function describe(first: Pool, { pool, result }: Pool): string {
  const head = `minion pool :\n------------\n${pyRepr(pool)}\npool size :\n----------\n    ${pool.length}`;
  if (result === first.result) return `${head}\npool result :\n------------\n    ${result}\n`;
  const title = `differences from "${first.pool[0] ?? ''}" results :`;
  const names = { from: first.pool[0] ?? '', to: pool[0] ?? '', context: 0 };
  const diff = unifiedDiff(lines(first.result), lines(result), names);
  return `${head}\n${title}\n${'-'.repeat(title.length - 1)}\n${diff}\n`;
}

export default defineRunner({
  name: 'survey',
  doc: 'Compare the answers of minions.',
  functions: {
    hash: masterFn({
      doc: 'Minions with equal answers, as pools, the largest first.',
      examples: ["salt-run survey.hash '*' cmd.run 'uname -r'", "salt-run survey.hash survey_sort=up '*' test.version"],
      params,
      run: async ({ args, kwargs }, ctx) => asData(await pools(ctx, args, kwargs)),
    }),
    diff: masterFn({
      doc: 'The same pools, with the difference of each answer to the first.',
      examples: ["salt-run survey.diff '*' cp.get_file_str file:///etc/hosts"],
      params,
      async run({ args, kwargs }, ctx) {
        const found = await pools(ctx, args, kwargs);
        for (const pool of found) ctx.print(describe(found[0]!, pool));
        return asData(found);
      },
    }),
  },
});
