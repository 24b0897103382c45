// Returner `postgres_local_cache`: a master's job cache in PostgreSQL with one column per field of a job.
import { defineReturner, isDict, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { jidToMillis } from 'halite/sdk/jobs';
import type { SqlRow } from '../shared/sql/sql-client.ts';
import { fromJson, plainDict, textField } from './shared/loads.ts';
import { openPostgres, postgresDialect, postgresOptions } from './shared/postgres-client.ts';
import { funOf, plainShape, sqlJson, successOf, type TableShape, tableSession } from './shared/salt-tables.ts';

const fields = ['tgt_type', 'cmd', 'tgt', 'kwargs', 'ret', 'username', 'arg', 'fun'] as const;

/** Texts unchanged; lists and maps as JSON, so that they can be read again. */
const columnText = (value: Value | undefined): string => {
  if (value === undefined || value === null) return '';
  return Array.isArray(value) || isDict(value) ? sqlJson(value) : pyStr(value);
};

function readLoad(row: SqlRow): PlainDict {
  const load = newDict([['jid', String(row['jid'])]]);
  for (const field of fields) {
    const text = String(row[field] ?? '');
    load[field === 'username' ? 'user' : field] = (/^[[{]/.test(text) ? fromJson(text) : undefined) ?? text;
  }
  return load;
}

const shape: TableShape = {
  ...plainShape(postgresDialect),
  returnRow: (ret) => {
    const kept = newDict([['return', ret['return'] ?? null]]);
    for (const field of ['retcode', 'success'] as const) if (ret[field] !== undefined) kept[field] = ret[field];
    return {
      fun: funOf(ret),
      jid: textField(ret, 'jid'),
      return: sqlJson(kept),
      id: textField(ret, 'id'),
      success: successOf(ret),
    };
  },
  returnColumns: ['return', 'fun'],
  readReturn: (row) => {
    const value = fromJson(String(row['return']));
    if (value === undefined) return undefined;
    const kept = isDict(value) ? plainDict(value) : undefined;
    // Rows of old masters contain only the return value.
    const load = kept && Object.hasOwn(kept, 'return') ? kept : newDict([['return', value]]);
    load['fun'] = String(row['fun']);
    return load;
  },
  loadRow: (jid, load) => ({
    jid,
    started: new Date(jidToMillis(jid) ?? Date.now()).toISOString(),
    ...Object.fromEntries(
      fields.map((field) => [
        field,
        columnText(load[field === 'username' ? 'user' : field] ?? (field === 'arg' ? [] : null)),
      ]),
    ),
  }),
  loadColumns: [...fields],
  readLoad,
  timeColumn: 'added',
};

export default defineReturner({
  name: 'postgres_local_cache',
  optionPrefix: 'master_job_cache.postgres',
  doc: 'The job cache of a master in PostgreSQL, with one column per field of a job.',
  keeps: ['jobs', 'events'],
  options: postgresOptions,
  async open(options, ctx) {
    const client = await openPostgres('postgres_local_cache', options);
    return tableSession({ client, dialect: postgresDialect, shape, masterId: ctx.id });
  },
});
