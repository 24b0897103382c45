// Execution module `dnsutil`: names and addresses, files of hosts and zones.
import { lookup } from 'node:dns/promises';
import { defineModule, fn, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { appendFileSync, readFileSync, readText, writeFileSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';

const noDig = 'This function requires dig, which is not currently available';

export function parseHosts(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of lines(text)) {
    const [address, ...names] = words(line);
    if (address === undefined || line.startsWith('#')) continue;
    found.set(address, [...(found.get(address) ?? []), ...names]);
  }
  return found;
}

/** `1H`, `2D`, `1W` or a number of seconds; never more than a week. */
function seconds(text: string): number {
  const upper = text.toUpperCase();
  const week = 604_800;
  const value = upper.includes('H')
    ? Number.parseInt(upper, 10) * 3600
    : upper.includes('D')
      ? Number.parseInt(upper, 10) * 86_400
      : upper.includes('W') || !/^\d+$/.test(upper)
        ? week
        : Number(upper);
  return Math.min(value, week);
}

/** Lines without comments; lines in parentheses are joined. */
function zoneLines(text: string): string[] {
  const found: string[] = [];
  let open = '';
  for (const raw of lines(text)) {
    const line = (raw.split(';')[0] ?? '').trim();
    if (line === '') continue;
    if (open || (line.includes('(') && !line.includes(')'))) {
      open += ` ${line}`;
      if (!line.includes(')')) continue;
      found.push(open.replace(/[()]/g, ''));
      open = '';
    } else found.push(line);
  }
  return found;
}

function addRecord(zone: PlainDict, line: string, parts: string[]): void {
  const origin = pyStr(zone['ORIGIN'] ?? '');
  if (parts[0] === 'IN') parts.unshift(origin);
  if (!parts[0]?.endsWith('.') && !line.includes('NS')) parts[0] = `${parts[0]}.${origin}`;
  const [name = '', ttl = '', kind = '', value = '', target = ''] = parts;
  const table = (key: string): PlainDict => {
    zone[key] ??= newDict();
    return zone[key] as PlainDict;
  };
  if (kind === 'NS') zone['NS'] = [...((zone['NS'] as Value[] | undefined) ?? []), value];
  else if (kind === 'MX') zone['MX'] ??= [newDict(Object.entries({ priority: value, host: target }))];
  else if (value === 'A' || value === 'AAAA')
    table(value)[name] = newDict(Object.entries({ TARGET: target, TTL: ttl }));
  else table(kind)[name] = value;
}

export function parseZone(text: string): PlainDict {
  const zone = newDict();
  for (const line of zoneLines(text)) {
    const parts = words('ORIGIN' in zone ? line.replaceAll('@', pyStr(zone['ORIGIN'] as Value)) : line);
    if (line.startsWith('$')) zone[(parts[0] ?? '').replace('$', '')] = words(line)[1] ?? '';
    else if (line.includes('SOA')) {
      if (parts[1] !== 'IN') parts.splice(1, 1);
      const [origin = '', network = '', , source = '', contact = '', serial = '', ...times] = parts;
      Object.assign(zone, { ORIGIN: origin, NETWORK: network, SOURCE: source, CONTACT: contact.replace('.', '@') });
      zone['SERIAL'] = serial;
      for (const [at, key] of ['REFRESH', 'RETRY', 'EXPIRE', 'MINTTL'].entries()) zone[key] = seconds(times[at] ?? '');
    } else addRecord(zone, line, parts);
  }
  return zone;
}

/** With dig if it is installed; otherwise with the system's resolver. */
async function resolved(
  host: string,
  nameserver: string | null,
  kind: 'A' | 'AAAA',
  ctx: ModuleContext,
): Promise<Value> {
  if (which('dig')) return ctx.call(`dig.${kind}`, host, nameserver);
  if (nameserver !== null) return noDig;
  try {
    const found = await lookup(host, { family: kind === 'A' ? 4 : 6, all: true });
    return found.map(({ address }) => address);
  } catch {
    return `Unable to resolve ${host}`;
  }
}

/** The day as the beginning of a serial number. */
function today(): string {
  const now = new Date();
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}01`;
}

const byDig = (kind: string, args: Value[], ctx: ModuleContext): Promise<Value> | string =>
  which('dig') ? ctx.call(`dig.${kind}`, ...args) : noDig;

const host = p.string({ doc: 'the name' });
const domain = p.string({ doc: 'the domain' });
const nameserver = p.string({ default: null, doc: 'the name server to query' });
const hostsfile = p.path({ default: '/etc/hosts', doc: 'the file' });

const files = {
  parse_hosts: fn({
    doc: 'Addresses and their names in a file of hosts.',
    examples: ["salt '*' dnsutil.parse_hosts"],
    params: { hostsfile, hosts: p.string({ default: null, doc: 'the text instead of a file' }) },
    run(args) {
      const text = args.hosts || readText(args.hostsfile);
      return text === undefined ? 'Error: hosts data was not found' : newDict([...parseHosts(text)]);
    },
  }),
  hosts_append: fn({
    doc: 'Adds names of an address to a file of hosts.',
    examples: ["salt '*' dnsutil.hosts_append /etc/hosts 127.0.0.1 ad1.example.org,ad2.example.org"],
    params: {
      hostsfile,
      ip_addr: p.string({ default: '', doc: 'the address' }),
      entries: p.string({ default: '', doc: 'names with commas' }),
    },
    run({ hostsfile, ip_addr: address, entries }) {
      const known = parseHosts(readText(hostsfile) ?? '').get(address) ?? [];
      const fresh = entries.split(',').filter((name) => !known.includes(name));
      if (fresh.length === 0) return `No additional hosts were added to ${hostsfile}`;
      const line = `\n${address} ${fresh.join(' ')}`;
      appendFileSync(hostsfile, line);
      return `The following line was added to ${hostsfile}:${line}`;
    },
  }),
  hosts_remove: fn({
    doc: 'Removes names from a file of hosts.',
    examples: ["salt '*' dnsutil.hosts_remove /etc/hosts ad1.example.org"],
    params: { hostsfile, entries: p.string({ default: '', doc: 'names with commas' }) },
    run({ hostsfile, entries }) {
      const gone = entries.split(',');
      const kept = lines(readFileSync(hostsfile, 'utf8')).flatMap((line) => {
        if (line === '' || line.trim().startsWith('#')) return [line];
        const [address = '', ...names] = words(line);
        const left = names.filter((name) => !gone.includes(name));
        return left.length > 0 ? [[address, ...left].join(' ')] : [];
      });
      writeFileSync(hostsfile, kept.map((line) => `${line}\n`).join(''));
      return null;
    },
  }),
  parse_zone: fn({
    doc: 'Records of a zone file.',
    examples: ["salt '*' dnsutil.parse_zone /var/lib/named/example.com.zone"],
    params: {
      zonefile: p.path({ default: null, doc: 'the file' }),
      zone: p.string({ default: null, doc: 'its text' }),
    },
    run(args) {
      const text = (args.zonefile ? readText(args.zonefile) : undefined) ?? args.zone;
      return text ? parseZone(text) : 'Error: Zone data was not found';
    },
  }),
  serial: fn({
    doc: 'A serial number for a zone, stored in a grain; `update` creates a new one.',
    examples: ["salt '*' dnsutil.serial example.com"],
    params: { zone: p.string({ default: '', doc: 'the zone' }), update: p.bool({ default: false, doc: 'a new one' }) },
    async run(args, ctx) {
      const key = args.zone ? `dnsserial_${args.zone}` : 'dnsserial';
      const stored = pyStr((await ctx.call('grains.get', key)) || '');
      if (!args.update) return stored || today();
      const next = stored && stored >= today() ? String(BigInt(stored) + 1n) : today();
      await ctx.call('grains.setval', key, next);
      return next;
    },
  }),
};

const questions = {
  check_ip: fn({
    doc: 'Whether a text is an address.',
    examples: ["salt '*' dnsutil.check_ip 127.0.0.1"],
    params: { ip_addr: p.string({ doc: 'the text' }) },
    run: (args, ctx) => byDig('check_ip', [args.ip_addr], ctx),
  }),
  A: fn({
    doc: 'Addresses of a name.',
    examples: ["salt '*' dnsutil.A www.example.org"],
    params: { host, nameserver },
    run: (args, ctx) => resolved(args.host, args.nameserver, 'A', ctx),
  }),
  AAAA: fn({
    doc: 'IPv6 addresses of a name.',
    examples: ["salt '*' dnsutil.AAAA www.example.org"],
    params: { host, nameserver },
    run: (args, ctx) => resolved(args.host, args.nameserver, 'AAAA', ctx),
  }),
  NS: fn({
    doc: 'Name servers of a domain.',
    examples: ["salt '*' dnsutil.NS example.org"],
    params: { domain, resolve: p.bool({ default: true, doc: 'addresses' }), nameserver },
    run: (args, ctx) => byDig('NS', [args.domain, args.resolve, args.nameserver], ctx),
  }),
  SPF: fn({
    doc: 'Networks that may send mail for a domain.',
    examples: ["salt '*' dnsutil.SPF example.org"],
    params: { domain, record: p.string({ default: 'SPF', doc: 'kind of record' }), nameserver },
    run: (args, ctx) => byDig('SPF', [args.domain, args.record, args.nameserver], ctx),
  }),
  MX: fn({
    doc: 'Mail servers of a domain.',
    examples: ["salt '*' dnsutil.MX example.org"],
    params: { domain, resolve: p.bool({ default: false, doc: 'addresses' }), nameserver },
    run: (args, ctx) => byDig('MX', [args.domain, args.resolve, args.nameserver], ctx),
  }),
};

export default defineModule({
  name: 'dnsutil',
  doc: 'Names and addresses, files of hosts and zones.',
  reads: ['parse_hosts', 'parse_zone', 'check_ip', 'A', 'AAAA', 'NS', 'SPF', 'MX'],
  functions: { ...files, ...questions },
});
