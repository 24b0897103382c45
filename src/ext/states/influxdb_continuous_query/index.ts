// State module `influxdb_continuous_query`: continuous queries of InfluxDB.
import { defineState, p, state } from 'halite/sdk';
import { ensureGone, ensureMade } from '../shared/influxdb.ts';

const name = p.string({ doc: 'the query' });
const database = p.string({ doc: 'its database' });
const client_args = p.kwargs({ doc: 'influxdb_user, influxdb_password, influxdb_host, influxdb_port, …' });

export default defineState({
  name: 'influxdb_continuous_query',
  doc: 'Continuous queries of InfluxDB.',
  functions: {
    present: state({
      doc: 'A continuous query.',
      examples: [
        "means:\n  influxdb_continuous_query.present:\n    - database: telegraf\n    - query: 'SELECT mean(*) INTO x FROM y GROUP BY time(1h)'",
      ],
      params: {
        name,
        database,
        query: p.string({ doc: 'what it runs' }),
        resample_time: p.scalar({ default: null, doc: 'how often' }),
        coverage_period: p.scalar({ default: null, doc: 'over how much' }),
        client_args,
      },
      async run(args, ctx) {
        const { query, resample_time, coverage_period } = args;
        const where = { ...args.client_args, name: args.name, database: args.database };
        const thing = {
          name: args.name,
          what: `continuous query ${args.name}`,
          exists: () => ctx.callWith('influxdb.continuous_query_exists', [], where),
          make: () =>
            ctx.callWith(
              'influxdb.create_continuous_query',
              [args.database, args.name, query, resample_time, coverage_period],
              args.client_args,
            ),
          planned: ` ${args.name} is absent and will be created`,
        };
        return (await ensureMade(thing, ctx)) ?? ctx.ok(`continuous query ${args.name} is already present`);
      },
    }),
    absent: state({
      doc: 'A continuous query that shall not be there.',
      examples: ['means:\n  influxdb_continuous_query.absent:\n    - database: telegraf'],
      params: { name, database, client_args },
      run: (args, ctx) =>
        ensureGone(
          {
            name: args.name,
            what: `continuous query ${args.name}`,
            exists: () =>
              ctx.callWith('influxdb.continuous_query_exists', [args.database, args.name], args.client_args),
            make: () => ctx.callWith('influxdb.drop_continuous_query', [args.database, args.name], args.client_args),
          },
          ctx,
        ),
    }),
  },
});
