// Execution module `dig`: DNS queries with dig.
import { defineModule, fn, type ModuleContext, p } from 'halite/sdk';
import { parseIp } from 'halite/sdk/net';
import { askTool, which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';

/** An address, with or without a prefix length. */
export function isAddress(text: string): boolean {
  const [address = '', length, ...more] = text.split('/');
  const version = parseIp(address)?.version;
  if (version === undefined || more.length > 0) return false;
  if (length === undefined) return true;
  const bits = /^\d+$/.test(length) ? Number(length) : -1;
  return version === 4 ? bits >= 1 && bits <= 32 : bits >= 8 && bits <= 128;
}

/** The short answer; undefined when dig failed. */
async function ask(
  ctx: ModuleContext,
  args: readonly string[],
  nameserver: string | null,
): Promise<string | undefined> {
  const { retcode, stdout } = await askTool(ctx, 'dig', ['+short', ...args, ...(nameserver ? [`@${nameserver}`] : [])]);
  if (retcode === 0) return stdout.trimEnd();
  ctx.log.warn(`dig returned exit code '${retcode}'. Returning empty list as fallback.`);
  return undefined;
}

const addresses = async (
  ctx: ModuleContext,
  host: string,
  kind: 'A' | 'AAAA',
  server: string | null,
): Promise<string[]> => lines((await ask(ctx, [host, kind], server)) ?? '').filter(isAddress);

/** Networks that may send mail for a domain; `seen` prevents an endless loop when domains include each other. */
async function senders(
  ctx: ModuleContext,
  domain: string,
  record: string,
  server: string | null,
  seen: Set<string>,
): Promise<string[]> {
  const key = `${record} ${domain}`;
  if (seen.has(key) || seen.size > 50) return [];
  seen.add(key);
  const text = await ask(ctx, [domain, record], server);
  if (text === undefined) return [];
  if (text === '' && record === 'SPF') return senders(ctx, domain, 'TXT', server, seen);
  const [version, ...sections] = words(text.replaceAll('"', ''));
  if (version !== 'v=spf1') return [];
  if (sections[0]?.startsWith('redirect=')) return senders(ctx, sections[0].slice(9), 'SPF', server, seen);
  const found: string[] = [];
  for (const section of sections) {
    const [, mechanism, address = ''] = /^[+~]?(ip[46]|include):(.+)/.exec(section) ?? [];
    if (mechanism === 'include') found.push(...(await senders(ctx, address, 'SPF', server, seen)));
    else if (mechanism && isAddress(address)) found.push(address);
  }
  return found;
}

const host = p.string({ doc: 'the name' });
const domain = p.string({ doc: 'the domain' });
const nameserver = p.string({ default: null, doc: 'the name server to query' });

export default defineModule({
  name: 'dig',
  doc: 'DNS queries.',
  available: () =>
    which('dig') !== null || 'The dig execution module cannot be loaded: the dig binary is not in the path.',
  reads: ['check_ip', 'A', 'AAAA', 'PTR', 'CNAME', 'NS', 'SPF', 'MX', 'TXT'],
  functions: {
    check_ip: fn({
      doc: 'Whether a text is an address.',
      examples: ["salt '*' dig.check_ip 127.0.0.1"],
      params: { addr: p.string({ doc: 'the text' }) },
      run: (args) => typeof args.addr === 'string' && isAddress(args.addr),
    }),
    A: fn({
      doc: 'Addresses of a name.',
      examples: ["salt '*' dig.A www.example.org"],
      params: { host, nameserver },
      run: (args, ctx) => addresses(ctx, args.host, 'A', args.nameserver),
    }),
    AAAA: fn({
      doc: 'IPv6 addresses of a name.',
      examples: ["salt '*' dig.AAAA www.example.org"],
      params: { host, nameserver },
      run: (args, ctx) => addresses(ctx, args.host, 'AAAA', args.nameserver),
    }),
    PTR: fn({
      doc: 'Names of an address.',
      examples: ["salt '*' dig.PTR 192.0.2.1"],
      params: { host, nameserver },
      run: async (args, ctx) => (await ask(ctx, ['-x', args.host], args.nameserver))?.split('\n') ?? [],
    }),
    CNAME: fn({
      doc: 'The target of an alias (CNAME).',
      examples: ["salt '*' dig.CNAME mail.example.org"],
      params: { host, nameserver },
      run: async (args, ctx) => (await ask(ctx, [args.host, 'CNAME'], args.nameserver)) ?? [],
    }),
    NS: fn({
      doc: 'Name servers of a domain: their addresses, or names.',
      examples: ["salt '*' dig.NS example.org"],
      params: { domain, resolve: p.bool({ default: true, doc: 'addresses' }), nameserver },
      async run(args, ctx) {
        const names = (await ask(ctx, [args.domain, 'NS'], args.nameserver))?.split('\n') ?? [];
        if (!args.resolve) return names;
        const found: string[] = [];
        for (const name of names) found.push(...(await addresses(ctx, name, 'A', args.nameserver)));
        return found;
      },
    }),
    SPF: fn({
      doc: 'Networks that may send mail for a domain.',
      examples: ["salt '*' dig.SPF example.org"],
      params: { domain, record: p.string({ default: 'SPF', doc: 'record type to query first' }), nameserver },
      run: (args, ctx) => senders(ctx, args.domain, args.record, args.nameserver, new Set()),
    }),
    MX: fn({
      doc: 'Mail servers of a domain with their priorities.',
      examples: ["salt '*' dig.MX example.org"],
      params: { domain, resolve: p.bool({ default: false, doc: 'addresses instead of names' }), nameserver },
      async run(args, ctx) {
        const text = await ask(ctx, [args.domain, 'MX'], args.nameserver);
        if (text === undefined) return [];
        const rows = text.split('\n').map((line) => words(line));
        if (!args.resolve) return rows;
        return Promise.all(
          rows.map(async ([priority = '', name = '']) => [
            priority,
            (await addresses(ctx, name, 'A', args.nameserver))[0] ?? '',
          ]),
        );
      },
    }),
    TXT: fn({
      doc: 'Texts of a name.',
      examples: ["salt '*' dig.TXT example.org"],
      params: { host, nameserver },
      run: async (args, ctx) => (await ask(ctx, [args.host, 'TXT'], args.nameserver))?.split('\n') ?? [],
    }),
  },
  aliases: { a: 'A', aaaa: 'AAAA', ptr: 'PTR', cname: 'CNAME', ns: 'NS', spf: 'SPF', mx: 'MX' },
});
