// State module `influxdb_retention_policy`: how long InfluxDB keeps data.
import {
  type ArgsOf,
  defineState,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  state,
  textKeyed,
} from 'halite/sdk';

const name = p.string({ doc: 'the policy' });
const database = p.string({ doc: 'its database' });
const client_args = p.kwargs({ doc: 'influxdb_user, influxdb_password, influxdb_host, influxdb_port, …' });
const params = {
  name,
  database,
  duration: p.string({ default: '7d', doc: 'hours, days or weeks: 12h, 7d, 4w' }),
  replication: p.scalar({ default: 1, nullable: true, doc: 'how many copies' }),
  default: p.bool({ default: false, doc: 'for data that names no policy' }),
  client_args,
};

/** As the server writes it: `168h0m0s`. */
function asHours(duration: string): string {
  const factor = { h: 1, d: 24, w: 168 }[duration.slice(-1)] ?? Number.NaN;
  const hours = Number.parseInt(duration, 10) * factor;
  return Number.isNaN(hours) ? duration : `${hours}h0m0s`;
}

/** What differs, in words. */
function differences(now: PlainDict, wanted: ArgsOf<typeof params>): PlainDict {
  const changes = newDict();
  const note = (key: string, word: string, before: string, after: string): void => {
    changes[key] = `${word} changed from ${before} to ${after}.`;
  };
  const [duration, copies, isDefault] = ['duration', 'replicaN', 'default'].map((key) => pyStr(now[key] ?? null));
  if (duration !== asHours(wanted.duration)) note('duration', 'Retention', duration ?? '', wanted.duration);
  if (copies !== pyStr(wanted.replication)) note('replication', 'Replication', copies ?? '', pyStr(wanted.replication));
  if (isDefault !== pyStr(wanted.default)) note('default', 'Default', isDefault ?? '', pyStr(wanted.default));
  return changes;
}

const present = state({
  doc: 'A retention policy.',
  examples: ['week:\n  influxdb_retention_policy.present:\n    - database: telegraf\n    - duration: 7d'],
  params,
  run(args, ctx) {
    const { name, client_args } = args;
    const where = { ...client_args, name, database: args.database };
    const rule = [args.database, name, args.duration, args.replication, args.default];
    return resource(ctx, {
      find: async () =>
        isTruthy(await ctx.callWith('influxdb.retention_policy_exists', [], where))
          ? textKeyed(await ctx.callWith('influxdb.get_retention_policy', [], where))
          : null,
      compare: (now) => (now === null ? newDict([[name, 'Present']]) : differences(now, args)),
      async change({ found, difference: changes }) {
        const fun = `influxdb.${found === null ? 'create' : 'alter'}_retention_policy`;
        const done = isTruthy(await ctx.callWith(fun, rule, client_args));
        if (done)
          return ctx.ok(`retention policy ${name} has been ${found === null ? 'created' : 'changed'}`, { changes });
        return found === null
          ? ctx.fail(`Failed to create retention policy ${name}`)
          : ctx.fail(`Failed to update retention policy ${name}`, { changes });
      },
      testChanges: ({ found, difference }) => (found === null ? {} : difference),
      right: `retention policy ${name} is already present`,
      would: ({ found }) =>
        found === null ? ` ${name} is absent and will be created` : ` ${name} is present and set to be changed`,
    });
  },
});

const absent = state({
  doc: 'A retention policy that must not exist.',
  examples: ['week:\n  influxdb_retention_policy.absent:\n    - database: telegraf'],
  params: { name, database, client_args },
  run: ({ name, database, client_args }, ctx) =>
    resource(ctx, {
      find: () => ctx.callWith('influxdb.retention_policy_exists', [database, name], client_args),
      wanted: false,
      change: () => ctx.callWith('influxdb.drop_retention_policy', [database, name], client_args),
      changes: () => ({ [name]: 'Absent' }),
      right: `retention policy ${name} is not present`,
      would: `retention policy ${name} is present and needs to be removed`,
      done: `retention policy ${name} has been removed`,
      failed: `Failed to remove retention policy ${name}`,
    }),
});

export default defineState({
  name: 'influxdb_retention_policy',
  doc: 'Retention policies of InfluxDB.',
  functions: { present, absent },
});
