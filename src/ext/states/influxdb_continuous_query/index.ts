// State module `influxdb_continuous_query`: continuous queries of InfluxDB.
import { defineState, p, resource, state } from 'halite/sdk';

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
      run(args, ctx) {
        const { name, query, resample_time, coverage_period, client_args } = args;
        const where = { ...client_args, name, database: args.database };
        const rule = [args.database, name, query, resample_time, coverage_period];
        return resource(ctx, {
          find: () => ctx.callWith('influxdb.continuous_query_exists', [], where),
          change: () => ctx.callWith('influxdb.create_continuous_query', rule, client_args),
          changes: () => ({ [name]: 'Present' }),
          right: `continuous query ${name} is already present`,
          would: ` ${name} is absent and will be created`,
          done: `continuous query ${name} has been created`,
          failed: `Failed to create continuous query ${name}`,
        });
      },
    }),
    absent: state({
      doc: 'A continuous query that must not exist.',
      examples: ['means:\n  influxdb_continuous_query.absent:\n    - database: telegraf'],
      params: { name, database, client_args },
      run: ({ name, database, client_args }, ctx) =>
        resource(ctx, {
          find: () => ctx.callWith('influxdb.continuous_query_exists', [database, name], client_args),
          wanted: false,
          change: () => ctx.callWith('influxdb.drop_continuous_query', [database, name], client_args),
          changes: () => ({ [name]: 'Absent' }),
          right: `continuous query ${name} is not present`,
          would: `continuous query ${name} is present and needs to be removed`,
          done: `continuous query ${name} has been removed`,
          failed: `Failed to remove continuous query ${name}`,
        }),
    }),
  },
});
