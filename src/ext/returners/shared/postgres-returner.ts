// The PostgreSQL returner with text columns, which Salt calls `postgres`.
import type { ReturnerContext, ReturnerSession } from 'halite/sdk';
import { openPostgres, type PostgresPlace, postgresDialect, postgresOptions } from './postgres-client.ts';
import { tableSession } from './salt-tables.ts';

export const postgresSpec = (name: string) => ({
  name,
  doc: 'Stores results, jobs and events in PostgreSQL, in the tables jids, salt_returns and salt_events.',
  keeps: ['jobs', 'events'] as const,
  options: postgresOptions,
  async open(options: PostgresPlace, ctx: ReturnerContext): Promise<ReturnerSession> {
    const client = await openPostgres(name, options);
    return tableSession({
      ...{ client, dialect: postgresDialect, masterId: ctx.id },
      archive: ctx.opts['archive_jobs'] === true,
    });
  },
});
