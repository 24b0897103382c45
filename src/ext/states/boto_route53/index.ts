// State module `boto_route53`: names in zones of Amazon Route 53.
import {
  type ArgsOf,
  defineState,
  isDict,
  isTruthy,
  messageOf,
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
import { isExpected } from '../shared/calls.ts';

const which = {
  name: p.string({ doc: 'the name' }),
  zone: p.string({ doc: 'its zone' }),
  record_type: p.string({ doc: 'A, CNAME, TXT, …' }),
};
const account = {
  region: p.ignored({ default: null, doc: 'no effect: there is one for all' }),
  key: p.scalar({ default: null, doc: 'secret key' }),
  keyid: p.scalar({ default: null, doc: 'id of the key' }),
  profile: p.oneOf(['string', 'dict'], { default: null, doc: 'name of options with key and keyid, or these' }),
  wait_for_sync: p.bool({ default: true, doc: 'wait until all servers have it' }),
  split_dns: p.bool({ default: false, doc: 'there is a private and a public zone of that name' }),
  private_zone: p.bool({ default: false, doc: 'use the private one' }),
};
const identifier = p.oneOf(['string', 'list'], {
  default: null,
  falsy: null,
  doc: 'of several records: which one, or that and its weight',
});
const presentParams = {
  name: which.name,
  value: p.oneOf(['string', 'list'], { doc: 'its value, or several' }),
  zone: which.zone,
  record_type: which.record_type,
  ttl: p.scalar({ default: null, doc: 'time to live in seconds' }),
  identifier,
  ...account,
};
const absentParams = { ...which, identifier, ...account };
type Present = ArgsOf<typeof presentParams>;
type Absent = ArgsOf<typeof absentParams>;

const find = (args: Absent, ctx: StateContext): Promise<Value> => {
  const { name, zone, record_type, region, key, keyid, profile, split_dns, private_zone } = args;
  const owner = [region, key, keyid, profile, split_dns, private_zone, args.identifier] as const;
  return ctx.call('boto_route53.get_record', name, zone, record_type, false, ...owner);
};

/** Values without order and without the dot at the end. */
const sorted = (values: Value): string =>
  pyStr(values)
    .split(',')
    .map((one) => one.replace(/\.+$/, ''))
    .sort()
    .join(',');

function differs(args: Present, value: string, now: PlainDict): boolean {
  const other = isTruthy(args.identifier) && pyStr(args.identifier) !== pyStr(now['identifier'] ?? null);
  const time = isTruthy(args.ttl) && pyStr(args.ttl) !== pyStr(now['ttl'] ?? null);
  return sorted(value) !== sorted(now['value'] ?? '') || other || time;
}

async function ensure(args: Present, ctx: StateContext): Promise<StateResult> {
  const { name, zone, record_type, ttl } = args;
  const value = Array.isArray(args.value) ? args.value.map(pyStr).join(',') : pyStr(args.value);
  if (/^(private|public):/.test(value) && !Array.isArray(args.value))
    return ctx.fail('Error: names of instances are not looked up, give an address');
  let found: Value;
  try {
    found = await find(args, ctx);
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(`Error: ${messageOf(error)}`);
  }
  if (!isDict(found)) return ctx.fail(`Error: Failed to retrieve zone ${zone}`);
  const now = textKeyed(found);
  const there = Object.keys(now).length > 0;
  if (there && !differs(args, value, now)) return ctx.ok(`${name} exists.`);
  const wanted = newDict(Object.entries({ name, value, record_type, ttl, identifier: args.identifier }));
  const [verb, past] = there ? ['update', 'Updated'] : ['add', 'Added'];
  return ctx.change(
    newDict(Object.entries({ old: there ? now : null, new: wanted })),
    `${past} ${name} Route53 record.`,
    {
      test: `Route53 record ${name} set to be ${past.toLowerCase()}.`,
      testChanges: newDict(),
      async apply() {
        const { region, key, keyid, profile, wait_for_sync, split_dns, private_zone } = args;
        const owner = [region, key, keyid, profile, wait_for_sync, split_dns, private_zone] as const;
        const what = [name, value, zone, record_type, args.identifier, ttl];
        const done = await ctx.call(`boto_route53.${verb}_record`, ...what, ...owner);
        return done ? undefined : ctx.fail(`Failed to ${verb} ${name} Route53 record.`);
      },
    },
  );
}

async function remove(args: Absent, ctx: StateContext): Promise<StateResult> {
  const { name, zone, record_type } = args;
  const now = textKeyed(await find(args, ctx));
  if (Object.keys(now).length === 0) return ctx.ok(`${name} does not exist.`);
  return ctx.change(newDict(Object.entries({ old: now, new: null })), `Deleted ${name} Route53 record.`, {
    test: `Route53 record ${name} set to be deleted.`,
    testChanges: newDict(),
    async apply() {
      const { region, key, keyid, profile, wait_for_sync, split_dns, private_zone } = args;
      const owner = [region, key, keyid, profile, wait_for_sync, split_dns, private_zone] as const;
      const done = await ctx.call(
        'boto_route53.delete_record',
        name,
        zone,
        record_type,
        args.identifier,
        false,
        ...owner,
      );
      return done ? undefined : ctx.fail(`Failed to delete ${name} Route53 record.`);
    },
  });
}

const presentState = (fun: string) =>
  state({
    doc: 'A name with a value.',
    examples: [
      `www.example.com:\n  boto_route53.${fun}:\n    - value: 192.0.2.1\n    - zone: example.com.\n    - record_type: A`,
    ],
    params: presentParams,
    run: ensure,
  });
const absentState = (fun: string) =>
  state({
    doc: 'A name that must not exist.',
    examples: [`www.example.com:\n  boto_route53.${fun}:\n    - zone: example.com.\n    - record_type: A`],
    params: absentParams,
    run: remove,
  });

export default defineState({
  name: 'boto_route53',
  doc: 'Names in zones of Amazon Route 53.',
  functions: {
    present: presentState('present'),
    rr_present: presentState('rr_present'),
    absent: absentState('absent'),
    rr_absent: absentState('rr_absent'),
  },
});
