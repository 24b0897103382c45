// Returner `pgjsonb`: results, jobs and events in PostgreSQL, as JSONB that SQL can query.
import { defineReturner } from 'halite/sdk';
import { jsonbDialect, openPostgres, postgresOptions } from './shared/postgres-client.ts';
import { tableSession } from './shared/salt-tables.ts';

export default defineReturner({
  name: 'pgjsonb',
  optionPrefix: 'returner.pgjsonb',
  doc: 'Stores results, jobs and events in PostgreSQL with JSONB columns, so that SQL can query them.',
  keeps: ['jobs', 'events'],
  options: postgresOptions,
  async open(options, ctx) {
    const client = await openPostgres('pgjsonb', options);
    return tableSession({
      ...{ client, dialect: jsonbDialect, masterId: ctx.id },
      archive: ctx.opts['archive_jobs'] === true,
    });
  },
});
