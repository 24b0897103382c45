// Execution module `boto_route53`: names in zones of Amazon Route 53.
import {
  type ArgsOf,
  defineModule,
  fn,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { type DnsRecord, Route53, type Zone } from './client.ts';

const account = {
  region: p.ignored({ default: null, doc: 'no effect: there is one for all' }),
  key: p.string({ default: null, doc: 'secret key' }),
  keyid: p.string({ default: null, doc: 'id of the key' }),
  profile: p.oneOf(['string', 'dict'], { default: null, doc: 'name of options with key and keyid, or these' }),
};
const retries = {
  retry_on_rate_limit: p.ignored({ default: null, doc: 'no effect' }),
  rate_limit_retries: p.ignored({ default: null, doc: 'no effect' }),
  retry_on_errors: p.bool({ default: true, doc: 'no effect' }),
  error_retries: p.int({ default: 5, doc: 'no effect' }),
};
const which = {
  name: p.string({ doc: 'the name' }),
  zone: p.string({ doc: 'its zone' }),
  record_type: p.string({ doc: 'A, CNAME, TXT, …' }),
};
const split = {
  split_dns: p.bool({ default: false, doc: 'there is a private and a public zone of that name' }),
  private_zone: p.bool({ default: false, doc: 'use the private one' }),
};
const identifier = p.oneOf(['string', 'list'], {
  default: null,
  falsy: null,
  doc: 'of several records: which one, or that and its weight',
});
const wait_for_sync = p.bool({ default: true, doc: 'wait until all servers have it' });
const ttl = p.string({ default: null, doc: 'time to live in seconds' });
const setting = { ...which, value: p.string({ doc: 'its value, or several, separated by commas' }) };

type Account = ArgsOf<typeof account>;
type Split = ArgsOf<typeof split>;

interface Place {
  readonly client: Route53;
  readonly zone: Zone;
}

async function placeOf(args: Account & Split & { zone: string }, ctx: ModuleContext): Promise<Place | undefined> {
  const client = new Route53(args, ctx);
  const kind = args.private_zone ? 'private' : 'public';
  const zone = await client.zone(args.zone, args.split_dns ? kind : undefined);
  if (!zone) ctx.log.error(`Failed to retrieve zone ${args.zone}`);
  return zone && { client, zone };
}

const identifierOf = (given: Value): string | null =>
  isTruthy(given) ? pyStr(Array.isArray(given) ? (given[0] ?? '') : given) : null;
const weighted = (given: Value): readonly [string, string] | undefined =>
  isTruthy(given) ? [identifierOf(given) ?? '', Array.isArray(given) ? pyStr(given[1] ?? 1) : '1'] : undefined;

const many = new Set(['A', 'MX', 'AAAA', 'TXT', 'SRV', 'SPF', 'NS']);
const valuesOf = (value: string, type: string): string[] => (many.has(type) ? value.split(',') : [value]);

function shown(record: DnsRecord): PlainDict {
  return newDict([
    ['name', record.name.replaceAll('\\052', '*')],
    ['value', record.values.join(',')],
    ['record_type', record.type],
    ['ttl', record.ttl],
    ...(record.identifier ? [['identifier', [...record.identifier]] as [string, Value]] : []),
  ]);
}

export default defineModule({
  name: 'boto_route53',
  doc: 'Names in zones of Amazon Route 53.',
  reads: ['zone_exists', 'get_record'],
  functions: {
    zone_exists: fn({
      doc: 'Whether a zone exists.',
      examples: ["salt '*' boto_route53.zone_exists example.com profile=dns"],
      params: { zone: which.zone, ...account, ...retries },
      run: async (args, ctx) => (await new Route53(args, ctx).zone(args.zone)) !== undefined,
    }),
    get_record: fn({
      doc: 'A record; empty when there is none, null when there is no such zone.',
      examples: ["salt '*' boto_route53.get_record www.example.com example.com A"],
      params: {
        ...which,
        fetch_all: p.bool({ default: false, doc: 'no effect' }),
        ...account,
        ...split,
        identifier,
        ...retries,
      },
      async run(args, ctx) {
        const place = await placeOf(args, ctx);
        if (!place) return null;
        const type = args.record_type.toUpperCase();
        const record = await place.client.record(place.zone, args.name, type, identifierOf(args.identifier));
        return record ? shown(record) : newDict();
      },
    }),
    add_record: fn({
      doc: 'Adds a record.',
      examples: ["salt '*' boto_route53.add_record www.example.com 192.0.2.1 example.com A"],
      params: {
        ...{ name: setting.name, value: setting.value, zone: setting.zone, record_type: setting.record_type },
        ...{ identifier, ttl, ...account, wait_for_sync, ...split, ...retries },
      },
      async run(args, ctx) {
        const place = await placeOf(args, ctx);
        if (!place) return false;
        const type = args.record_type.toUpperCase();
        const record = { name: args.name, type, ttl: pyStr(args.ttl ?? 60), values: valuesOf(args.value, type) };
        const full = { ...record, identifier: weighted(args.identifier) };
        return place.client.change(place.zone, 'CREATE', full, args.wait_for_sync);
      },
    }),
    update_record: fn({
      doc: 'Changes a record; false when there is none.',
      examples: ["salt '*' boto_route53.update_record www.example.com 192.0.2.2 example.com A"],
      params: {
        ...{ name: setting.name, value: setting.value, zone: setting.zone, record_type: setting.record_type },
        ...{ identifier, ttl, ...account, wait_for_sync, ...split, ...retries },
      },
      async run(args, ctx) {
        const place = await placeOf(args, ctx);
        const type = args.record_type.toUpperCase();
        const old = place && (await place.client.record(place.zone, args.name, type, identifierOf(args.identifier)));
        if (!place || !old) return false;
        const record = { ...old, ttl: pyStr(args.ttl ?? old.ttl), values: valuesOf(args.value, type) };
        const full = { ...record, identifier: weighted(args.identifier) ?? old.identifier };
        return place.client.change(place.zone, 'UPSERT', full, args.wait_for_sync);
      },
    }),
    delete_record: fn({
      doc: 'Removes a record; false when there is none.',
      examples: ["salt '*' boto_route53.delete_record www.example.com example.com A"],
      params: {
        ...which,
        identifier,
        all_records: p.bool({ default: false, doc: 'no effect' }),
        ...{ ...account, wait_for_sync, ...split, ...retries },
      },
      async run(args, ctx) {
        const place = await placeOf(args, ctx);
        const type = args.record_type.toUpperCase();
        const old = place && (await place.client.record(place.zone, args.name, type, identifierOf(args.identifier)));
        return place && old ? place.client.change(place.zone, 'DELETE', old, args.wait_for_sync) : false;
      },
    }),
  },
});
