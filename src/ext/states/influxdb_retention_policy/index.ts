// State module `influxdb_retention_policy`: how long InfluxDB keeps data.
import { type ArgsOf, defineState, newDict, type PlainDict, p, pyStr, state } from 'halite/sdk';
import { plain } from '../shared/calls.ts';
import { ensureGone, ensureMade } from '../shared/influxdb.ts';

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
  async run(args, ctx) {
    const where = { ...args.client_args, name: args.name, database: args.database };
    const rule = [args.database, args.name, args.duration, args.replication, args.default];
    const thing = {
      name: args.name,
      what: `retention policy ${args.name}`,
      exists: () => ctx.callWith('influxdb.retention_policy_exists', [], where),
      make: () => ctx.callWith('influxdb.create_retention_policy', rule, args.client_args),
      planned: ` ${args.name} is absent and will be created`,
    };
    const made = await ensureMade(thing, ctx);
    if (made) return made;
    const changes = differences(plain(await ctx.callWith('influxdb.get_retention_policy', [], where)), args);
    if (Object.keys(changes).length === 0) return ctx.ok(`retention policy ${args.name} is already present`);
    return ctx.change(changes, `retention policy ${args.name} has been changed`, {
      test: ` ${args.name} is present and set to be changed`,
      apply: async () =>
        (await ctx.callWith('influxdb.alter_retention_policy', rule, args.client_args))
          ? undefined
          : ctx.fail(`Failed to update retention policy ${args.name}`, { changes }),
    });
  },
});

const absent = state({
  doc: 'A retention policy that shall not be there.',
  examples: ['week:\n  influxdb_retention_policy.absent:\n    - database: telegraf'],
  params: { name, database, client_args },
  run: (args, ctx) =>
    ensureGone(
      {
        name: args.name,
        what: `retention policy ${args.name}`,
        exists: () => ctx.callWith('influxdb.retention_policy_exists', [args.database, args.name], args.client_args),
        make: () => ctx.callWith('influxdb.drop_retention_policy', [args.database, args.name], args.client_args),
      },
      ctx,
    ),
});

export default defineState({
  name: 'influxdb_retention_policy',
  doc: 'How long InfluxDB keeps data.',
  functions: { present, absent },
});
