// Route 53 over HTTP: zones, records, and changes of them.
import { setTimeout as pause } from 'node:timers/promises';
import { commandError, dictGet, invocationError, isDict, type ModuleContext, pyStr, type Value } from 'halite/sdk';
import { httpCall } from '../../shared/http/request.ts';
import { parseXml } from '../../shared/serializers/xml.ts';
import { type Credentials, signedHeaders } from './sign.ts';

type Node = ReturnType<typeof parseXml>;

export interface Zone {
  readonly id: string;
  readonly name: string;
  readonly isPrivate: boolean;
}

export interface DnsRecord {
  readonly name: string;
  readonly type: string;
  readonly ttl: string;
  readonly values: readonly string[];
  /** Identifies one of several records with the same name, and its weight. */
  readonly identifier?: readonly [string, string] | undefined;
}

export interface Account {
  readonly key: Value;
  readonly keyid: Value;
  readonly profile: Value;
}

const version = '2013-04-01';
const child = (node: Node | undefined, name: string): Node | undefined =>
  node?.children.find((one) => one.name === name);
const textOf = (node: Node | undefined, name: string): string => child(node, name)?.text ?? '';
const within = (node: Node, list: string, item: string): Node[] =>
  (child(node, list)?.children ?? []).filter(({ name }) => name === item);
const escaped = (text: string): string => text.replace(/[<>&'"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
/** A name as the server writes it: with a dot at the end, and the star as an octal escape. */
const fullName = (name: string): string => `${name.replace(/\.$/, '')}.`.replaceAll('*', '\\052');

/** Key and id from the call, a profile, the options `route53.key` and `route53.keyid`, or the environment. */
async function credentialsOf(account: Account, ctx: ModuleContext): Promise<Credentials> {
  const named = account.profile;
  const profile = typeof named === 'string' ? await ctx.call('config.option', named) : named;
  const find = async (name: 'key' | 'keyid', variable: string): Promise<string | undefined> => {
    const places = [account[name], isDict(profile) ? dictGet(profile, name) : null];
    const given = places.find(Boolean) ?? (await ctx.call('config.option', `route53.${name}`)) ?? null;
    return given ? pyStr(given) : process.env[variable];
  };
  const [keyid, key] = [await find('keyid', 'AWS_ACCESS_KEY_ID'), await find('key', 'AWS_SECRET_ACCESS_KEY')];
  if (!keyid || !key) throw invocationError('No AWS credentials: give key and keyid, or a profile with them');
  return { keyid, key, token: process.env['AWS_SESSION_TOKEN'] };
}

export class Route53 {
  readonly #ctx: ModuleContext;
  readonly #account: Account;

  constructor(account: Account, ctx: ModuleContext) {
    this.#account = account;
    this.#ctx = ctx;
  }

  async #ask(method: string, path: string, query: Record<string, string> = {}, body = ''): Promise<Node> {
    const base = pyStr((await this.#ctx.call('config.option', 'route53.endpoint')) || 'https://route53.amazonaws.com');
    const url = new URL(`${base}/${version}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const credentials = await credentialsOf(this.#account, this.#ctx);
    const request = { method, url, body, region: 'us-east-1', service: 'route53', time: new Date() };
    const { host: _host, ...headers } = signedHeaders(request, credentials);
    const answer = await httpCall({
      service: 'route53',
      url: url.href,
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'text/xml' } : {}) },
      ...(body ? { body } : {}),
      accept: [400, 403, 404],
      secrets: [credentials.key],
      signal: this.#ctx.signal,
    });
    const root = parseXml(answer.text.replace(/^\s*<\?xml.*?\?>\s*/s, ''));
    if (answer.status < 300) return root;
    const message = textOf(child(root, 'Error'), 'Message') || (child(child(root, 'Messages'), 'Message')?.text ?? '');
    throw commandError(`Route 53 answered ${answer.status}: ${message}`);
  }

  /** The zone of a name; if there are two, the private or the public one. */
  async zone(name: string, kind?: 'private' | 'public'): Promise<Zone | undefined> {
    const root = await this.#ask('GET', 'hostedzonesbyname', { dnsname: fullName(name) });
    return within(root, 'HostedZones', 'HostedZone')
      .map((zone) => ({
        id: textOf(zone, 'Id').replace(/^\/hostedzone\//, ''),
        name: textOf(zone, 'Name'),
        isPrivate: textOf(child(zone, 'Config'), 'PrivateZone') === 'true',
      }))
      .find((zone) => zone.name === fullName(name) && (kind === undefined || zone.isPrivate === (kind === 'private')));
  }

  async record(zone: Zone, name: string, type: string, identifier: string | null): Promise<DnsRecord | undefined> {
    const root = await this.#ask('GET', `hostedzone/${zone.id}/rrset`, { name: fullName(name), type, maxitems: '100' });
    return within(root, 'ResourceRecordSets', 'ResourceRecordSet')
      .map((set): DnsRecord => {
        const own = textOf(set, 'SetIdentifier');
        return {
          name: textOf(set, 'Name'),
          type: textOf(set, 'Type'),
          ttl: textOf(set, 'TTL'),
          values: within(set, 'ResourceRecords', 'ResourceRecord').map((one) => textOf(one, 'Value')),
          identifier: own ? [own, textOf(set, 'Weight')] : undefined,
        };
      })
      .find(
        (one) =>
          one.name.toLowerCase() === fullName(name).toLowerCase() &&
          one.type === type &&
          (identifier === null || one.identifier?.[0] === identifier),
      );
  }

  /** Changes a record; on request waits until the change has reached all servers. */
  async change(zone: Zone, action: 'CREATE' | 'UPSERT' | 'DELETE', record: DnsRecord, wait: boolean): Promise<boolean> {
    const values = record.values
      .map((one) => `<ResourceRecord><Value>${escaped(one)}</Value></ResourceRecord>`)
      .join('');
    const [own, weight] = record.identifier ?? [];
    const which = own ? `<SetIdentifier>${escaped(own)}</SetIdentifier><Weight>${escaped(weight ?? '')}</Weight>` : '';
    const set = `<ResourceRecordSet><Name>${escaped(fullName(record.name))}</Name><Type>${escaped(record.type)}</Type>${which}<TTL>${escaped(record.ttl)}</TTL><ResourceRecords>${values}</ResourceRecords></ResourceRecordSet>`;
    const body = `<?xml version="1.0" encoding="UTF-8"?><ChangeResourceRecordSetsRequest xmlns="https://route53.amazonaws.com/doc/${version}/"><ChangeBatch><Changes><Change><Action>${action}</Action>${set}</Change></Changes></ChangeBatch></ChangeResourceRecordSetsRequest>`;
    let root = await this.#ask('POST', `hostedzone/${zone.id}/rrset/`, {}, body);
    const id = textOf(child(root, 'ChangeInfo'), 'Id').replace(/^\//, '');
    for (let waited = 0; wait && textOf(child(root, 'ChangeInfo'), 'Status') !== 'INSYNC'; waited += 5) {
      if (waited >= 600) return false;
      await pause(5000, undefined, { signal: this.#ctx.signal });
      root = await this.#ask('GET', id);
    }
    return true;
  }
}
