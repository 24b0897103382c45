// State module `influxdb_database`: databases of InfluxDB.
import { defineState, p, resource, state } from 'halite/sdk';

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
      run: ({ name, client_args }, ctx) =>
        resource(ctx, {
          find: () => ctx.callWith('influxdb.db_exists', [name], client_args),
          change: () => ctx.callWith('influxdb.create_db', [name], client_args),
          changes: () => ({ [name]: 'Present' }),
          right: `Database ${name} is already present`,
          would: `Database ${name} is absent and will be created`,
          done: `Database ${name} has been created`,
          failed: `Failed to create database ${name}`,
        }),
    }),
    absent: state({
      doc: 'A database that must not exist.',
      examples: ['telegraf:\n  influxdb_database.absent'],
      params,
      run: ({ name, client_args }, ctx) =>
        resource(ctx, {
          find: () => ctx.callWith('influxdb.db_exists', [name], client_args),
          wanted: false,
          change: () => ctx.callWith('influxdb.drop_db', [name], client_args),
          changes: () => ({ [name]: 'Absent' }),
          right: `Database ${name} is not present`,
          would: `Database ${name} is present and needs to be removed`,
          done: `Database ${name} has been removed`,
          failed: `Failed to remove database ${name}`,
        }),
    }),
  },
});
