// State module `mysql_query`: statements run against MySQL, with the result kept in a grain or a file.

import {
  defineState,
  dictEntries,
  isDict,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { existsSync, statSync, writeFileSync } from 'halite/sdk/fs';
import { connection, lastError } from '../shared/mysql.ts';

const params = {
  name: p.string({ doc: 'any text' }),
  database: p.string({ doc: 'the database' }),
};
const storing = {
  output: p.scalar({ default: null, doc: 'destination of the result: `grain`, or a file' }),
  grain: p.scalar({ default: null, doc: 'the grain' }),
  key: p.scalar({ default: null, doc: 'a key in that grain' }),
  overwrite: p.bool({ default: true, doc: 'run even if there is a result' }),
};
const checking = {
  check_db_exists: p.bool({ default: true, doc: 'only if the database exists' }),
  client_flags: p.oneOf(['list', 'string'], { default: null, doc: 'list of flags for the connection' }),
};

interface Job {
  readonly name: string;
  readonly database: string;
  readonly output: Value;
  readonly grain: Value;
  readonly key: Value;
  readonly overwrite: boolean;
  readonly check_db_exists: boolean;
  readonly client_flags: Value;
  /** The name in the message for a missing database. */
  readonly shown: string;
}

async function grainValue(grain: string, ctx: StateContext): Promise<PlainDict> {
  const names = await ctx.call('grains.ls');
  return Array.isArray(names) && names.includes(grain) ? textKeyed(await ctx.call('grains.get', grain)) : newDict();
}

/** Where the output is stored, and `done` if it already exists. */
async function beforehand(job: Job, ctx: StateContext): Promise<{ done?: string; where: string } | StateResult> {
  if (job.output === null) return { where: 'not storing result' };
  if (job.output !== 'grain') {
    const file = pyStr(job.output);
    const there = existsSync(file) && statSync(file).isFile();
    const done = !job.overwrite && there ? `No execution needed. File ${file} already set` : undefined;
    return { ...(done === undefined ? {} : { done }), where: `storing result in file: ${file}` };
  }
  if (job.grain === null) return ctx.fail("Error: output type 'grain' needs the grain parameter\n");
  const grain = pyStr(job.grain);
  const place = job.key === null ? grain : `${grain}:${pyStr(job.key)}`;
  let there = false;
  if (!job.overwrite) {
    const names = await ctx.call('grains.ls');
    there = Array.isArray(names) && names.includes(grain);
    if (there && job.key !== null) there = pyStr(job.key) in (await grainValue(grain, ctx));
  }
  return {
    ...(there ? { done: `No execution needed. Grain ${place} already set` } : {}),
    where: `storing result in grain: ${place}`,
  };
}

const rowsOf = (value: Value | undefined): Value[][] => (Array.isArray(value) ? (value as Value[][]) : []);

/** Rows as dictionaries; the answer of a file has a list of rows for each of its statements. */
function mapped(answer: PlainDict): void {
  const columns = Array.isArray(answer['columns']) ? answer['columns'] : [];
  if (answer['results'] === undefined) return;
  const named = (row: Value[], names: readonly Value[]): PlainDict =>
    newDict(names.map((name, i) => [pyStr(name), row[i] ?? null]));
  const nested = columns.some(Array.isArray);
  answer['results'] = nested
    ? rowsOf(answer['results']).flatMap((rows, i) =>
        (rows as Value[][]).map((row) => named(row, (columns[i] ?? []) as Value[])),
      )
    : rowsOf(answer['results']).map((row) => named(row, columns));
}

function fileLines(answer: PlainDict): string {
  const entries = Array.isArray(answer['results']) ? answer['results'] : [answer];
  return entries
    .flatMap((entry) => (isDict(entry) ? dictEntries(entry) : []))
    .map(([key, value]) => `${pyStr(key)}:${pyStr(value)}\n`)
    .join('');
}

async function keep(job: Job, answer: PlainDict, ctx: StateContext): Promise<string> {
  if (job.output === null) return 'Executed';
  if (job.output !== 'grain') {
    writeFileSync(pyStr(job.output), fileLines(answer));
    return `Executed. Output into ${pyStr(job.output)}`;
  }
  const grain = pyStr(job.grain);
  if (job.key === null) {
    await ctx.call('grains.setval', grain, answer);
    return `Executed. Output into grain: ${grain}`;
  }
  const value = await grainValue(grain, ctx);
  await ctx.call('grains.setval', grain, newDict([...Object.entries(value), [pyStr(job.key), answer]]));
  return `Executed. Output into grain: ${grain}:${pyStr(job.key)}`;
}

async function execute(
  job: Job,
  kwargs: PlainDict,
  ctx: StateContext,
  ask: (kwargs: PlainDict) => Promise<Value>,
): Promise<StateResult> {
  const flags = job.client_flags ?? [];
  if (!Array.isArray(flags)) return ctx.fail('Error: client_flags must be a list.');
  const args = { ...kwargs, client_flags: flags };
  if (job.check_db_exists && !(await ctx.callWith('mysql.db_exists', [job.database], args))) {
    const error = lastError(ctx);
    if (error !== undefined) return ctx.fail(error);
    return ctx.result({ result: null, comment: `Database ${job.shown} is not present` });
  }
  const plan = await beforehand(job, ctx);
  if (!('where' in plan)) return plan;
  if (plan.done !== undefined) return ctx.ok(plan.done as string);
  return ctx.change(newDict(), '', {
    test: `Query would execute, ${plan.where as string}`,
    async apply() {
      const got = await ask(args);
      if (got === false) return ctx.fail(lastError(ctx) ?? 'The query failed');
      const answer = textKeyed(got);
      mapped(answer);
      const how = await keep(job, answer, ctx);
      return ctx.ok(pyStr(answer), { changes: newDict([['query', how]]) });
    },
  });
}

export default defineState({
  name: 'mysql_query',
  doc: 'Statements run against MySQL, with the result stored in a grain or a file.',
  functions: {
    run: state({
      doc: 'Runs a statement.',
      examples: [
        'count:\n  mysql_query.run:\n    - database: shop\n    - query: SELECT COUNT(*) FROM orders\n    - output: /tmp/orders',
      ],
      params: {
        ...params,
        query: p.string({ doc: 'the statement' }),
        ...storing,
        ...checking,
        connection_args: connection,
      },
      run: ({ connection_args, query, ...job }, ctx) =>
        execute({ ...job, shown: job.name }, connection_args, ctx, (kwargs) =>
          ctx.callWith('mysql.query', [job.database, query], kwargs),
        ),
    }),
    run_file: state({
      doc: 'Runs the statements of a file.',
      examples: ['setup:\n  mysql_query.run_file:\n    - database: shop\n    - query_file: salt://shop/setup.sql'],
      params: {
        ...params,
        query_file: p.string({ default: null, doc: 'the file, here or salt://…' }),
        ...storing,
        saltenv: p.scalar({ default: null, doc: 'environment of the file' }),
        ...checking,
        connection_args: connection,
      },
      async run({ connection_args, query_file: given, saltenv, ...job }, ctx) {
        const query_file = given ?? '';
        const isRemote = /^(?:salt|https?|swift|s3):\/\//.test(query_file);
        const path = isRemote
          ? await ctx.callWith('cp.cache_file', [query_file], { saltenv: saltenv ?? ctx.saltenv })
          : query_file;
        if (typeof path !== 'string' || !existsSync(path)) return ctx.fail(`File ${pyStr(path)} does not exist`);
        return execute({ ...job, shown: job.database }, connection_args, ctx, (kwargs) =>
          ctx.callWith('mysql.file_query', [job.database, path], kwargs),
        );
      },
    }),
  },
});
