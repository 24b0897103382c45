// State module `influxdb_database`: databases of InfluxDB.
import { defineState, p, state } from 'halite/sdk';
import { ensureGone, ensureMade } from '../shared/influxdb.ts';

const params = {
  name: p.string({ doc: 'the database' }),
  client_args: p.kwargs({ doc: 'influxdb_user, influxdb_password, influxdb_host, influxdb_port, …' }),
};

export default defineState({
  name: 'influxdb_database',
  doc: 'Databases of InfluxDB.',
  functions: {
    present: state({
      doc: 'A database.',
      examples: ['telegraf:\n  influxdb_database.present'],
      params,
      async run({ name, client_args }, ctx) {
        const thing = {
          name,
          what: `Database ${name}`,
          exists: () => ctx.callWith('influxdb.db_exists', [name], client_args),
          make: () => ctx.callWith('influxdb.create_db', [name], client_args),
          planned: `Database ${name} is absent and will be created`,
        };
        return (await ensureMade(thing, ctx)) ?? ctx.ok(`Database ${name} is already present`);
      },
    }),
    absent: state({
      doc: 'A database that shall not be there.',
      examples: ['telegraf:\n  influxdb_database.absent'],
      params,
      run: ({ name, client_args }, ctx) =>
        ensureGone(
          {
            name,
            what: `Database ${name}`,
            exists: () => ctx.callWith('influxdb.db_exists', [name], client_args),
            make: () => ctx.callWith('influxdb.drop_db', [name], client_args),
          },
          ctx,
        ),
    }),
  },
});
