// Routes of the kernel, in the shape of `network.routes`.
import { commandError, type ModuleContext, newDict, type PlainDict } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { formatIp, netmaskText, parseNetwork } from 'halite/sdk/net';
import { askTool, which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';

type Family = 'inet' | 'inet6';
const route = (
  family: Family,
  destination: string,
  gateway: string,
  netmask: string,
  flags: string,
  iface: string,
): PlainDict =>
  newDict([
    ['addr_family', family],
    ['destination', destination],
    ['gateway', gateway],
    ['netmask', netmask],
    ['flags', flags],
    ['interface', iface],
  ]);

/** `ip -4 route show table main`. */
export function parseRoutes4(output: string): PlainDict[] {
  return lines(output).flatMap((line) => {
    const columns = words(line);
    const device = columns[columns.indexOf('dev') + 1] ?? '';
    const [first = ''] = columns;
    if (first === 'unreachable') return [];
    if (first === 'default')
      return [route('inet', '0.0.0.0', columns[2] ?? '', '0.0.0.0', 'UG', columns[3] === 'dev' ? device : '')];
    const network = parseNetwork(first);
    if (!network) return [];
    const base = formatIp({ version: 4, value: network.base });
    return [route('inet', base, '0.0.0.0', netmaskText(4, network.prefix), 'U', columns[1] === 'dev' ? device : '')];
  });
}

const otherTypes = [
  'unicast',
  'broadcast',
  'throw',
  'unreachable',
  'prohibit',
  'blackhole',
  'nat',
  'anycast',
  'multicast',
];

/** `ip -6 route show table all`. */
export function parseRoutes6(output: string): PlainDict[] {
  return lines(output).flatMap((line) => {
    const columns = words(line);
    const [first = ''] = columns;
    if (first === '' || otherTypes.includes(first)) return [];
    const deviceAfter = (index: number): string => (columns[index] === 'dev' ? (columns[index + 1] ?? '') : '');
    if (first === 'default') return [route('inet6', '::/0', columns[2] ?? '', '', 'UG', deviceAfter(3))];
    if (first === 'local') return [route('inet6', `${columns[1]}/128`, '::', '', 'U', deviceAfter(2))];
    return [route('inet6', first, '::', '', 'U', deviceAfter(1))];
  });
}

/** `netstat -A inet -rn` and `netstat -A inet6 -rn`. */
export function parseNetstatRoutes(v4: string, v6: string): PlainDict[] {
  const rows = (output: string): string[][] => lines(output).slice(2).map(words);
  return [
    ...rows(v4).map((c) => route('inet', c[0] ?? '', c[1] ?? '', c[2] ?? '', c[3] ?? '', c[7] ?? '')),
    ...rows(v6).flatMap((c) =>
      c.length === 6 || c.length === 7 ? [route('inet6', c[0] ?? '', c[1] ?? '', '', c[2] ?? '', c.at(-1) ?? '')] : [],
    ),
  ];
}

export function requireFamily(family: string | null): void {
  if (family !== null && family !== 'inet' && family !== 'inet6')
    throw commandError(`Invalid address family ${family}`);
}

export async function readRoutes(family: string | null, ctx: ModuleContext): Promise<PlainDict[]> {
  requireFamily(family);
  const all = which('netstat')
    ? parseNetstatRoutes(
        (await askTool(ctx, 'netstat', ['-A', 'inet', '-rn'])).stdout,
        (await askTool(ctx, 'netstat', ['-A', 'inet6', '-rn'])).stdout,
      )
    : [
        ...parseRoutes4((await askTool(ctx, 'ip', ['-4', 'route', 'show', 'table', 'main'])).stdout),
        ...parseRoutes6((await askTool(ctx, 'ip', ['-6', 'route', 'show', 'table', 'all'])).stdout),
      ];
  return family === null ? all : all.filter((entry) => entry['addr_family'] === family);
}

/** How the kernel would reach an address. */
export async function routeTo(ip: string, ctx: ModuleContext): Promise<PlainDict> {
  const { stdout, stderr } = await askTool(ctx, 'ip', ['route', 'get', ip]);
  const line = lines(stdout)[0] ?? '';
  const match = /(?:via\s+([\w.:]+))?\s+dev\s+([\w.:-]+)\s+.*src\s+([\w.:]+)/.exec(line);
  if (!match) throw commandError(stderr.trim() || `No route to ${ip}`);
  return newDict([
    ['destination', ip],
    ['gateway', match[1] ?? null],
    ['interface', match[2] as string],
    ['source', match[3] as string],
  ]);
}

/** Hardware addresses of neighbours → address. */
export function neighbours(): PlainDict {
  const rows = lines(readText('/proc/net/arp') ?? '')
    .slice(1)
    .map(words);
  return newDict(rows.flatMap(([ip, , flags, mac]) => (ip && mac && flags !== '0x0' ? [[mac, ip] as const] : [])));
}
