// Execution module `network`: interfaces, routes, names and reachability.
import { lookupService } from 'node:dns/promises';
import { hostname } from 'node:os';
import {
  cleanKwargs,
  defineModule,
  dictGet,
  fn,
  invocationError,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyInt,
  pyStr,
  type Value,
} from 'halite/sdk';
import { pathExists, readText, writeFileSync } from 'halite/sdk/fs';
import { askTool, requireBinary, requireTool, runTool, which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { canonicalInHosts, reverseNames } from '../../shared/network/host-name.ts';
import { addressesOf, readInterfaces } from '../../shared/network/interfaces.ts';
import { addressFunctions } from './addresses.ts';
import { neighbours, readRoutes, requireFamily, routeTo } from './routes.ts';
import { activeTcp, connect, sanitizeHost, sockets, wakeOnLan } from './sockets.ts';

/** Hops in the output of traceroute. */
export function parseTraceroute(output: string): PlainDict[] {
  return lines(output)
    .filter((line) => line.includes(' ') && !line.startsWith('traceroute'))
    .map((line) => {
      const parts = line.split('  ');
      const count = Number(parts[0]);
      if (parts[1] === '* * *')
        return newDict([
          ['count', count],
          ['hostname', '*'],
        ]);
      if (parts.length < 5) return newDict();
      const [host = '', address = ''] = words(parts[1] ?? '');
      const delays = parts
        .slice(2, 5)
        .map((part, index): [string, Value] => [`ms${index + 1}`, Number(words(part)[0])]);
      return newDict([['count', count], ['hostname', host], ['ip', address.replace(/[()]/g, '')], ...delays]);
    });
}

/** The buffer sizes ethtool reports. */
export function parseRing(output: string): PlainDict {
  const found = newDict([['result', false]]);
  let ending = 'max-';
  for (const line of lines(output)) {
    const match = /^(.+):\s+(\d+)$/.exec(line);
    if (match) {
      found[(match[1] as string).toLowerCase().replaceAll(' ', '-') + ending] = Number(match[2]);
      found['result'] = true;
    } else if (line.endsWith('maximums:')) ending = '-max';
    else if (line.endsWith('settings:')) ending = '';
  }
  if (!found['result']) found['comment'] = output.trim();
  return found;
}

async function fullName(): Promise<string> {
  const name = hostname();
  const listed = canonicalInHosts(readText('/etc/hosts') ?? '', name);
  if (listed) return listed;
  const found = await lookupService('127.0.1.1', 0).catch(() => undefined);
  return found?.hostname.includes('.') ? found.hostname : name;
}

const host = p.string({ doc: 'name or address' });

const reaching = {
  ping: fn({
    doc: 'Pings a host four times and returns the output, or whether it answered.',
    examples: [
      "salt '*' network.ping archlinux.org",
      "salt '*' network.ping example.com return_boolean=True timeout=3",
    ],
    params: {
      host,
      timeout: p.string({ default: false, falsy: null, doc: 'seconds to wait for each answer' }),
      return_boolean: p.bool({ default: false }),
    },
    async run(args, ctx) {
      const wait = isTruthy(args.timeout) ? ['-W', pyStr(args.timeout)] : [];
      const { retcode, stdout } = await runTool(ctx, 'ping', [...wait, '-c', '4', sanitizeHost(args.host)], {
        mergeStderr: true,
      });
      return args.return_boolean ? retcode === 0 : stdout.trimEnd();
    },
  }),
  dig: fn({
    doc: 'Output of dig.',
    examples: ["salt '*' network.dig archlinux.org"],
    params: { host },
    run: async (args, ctx) =>
      (await runTool(ctx, requireBinary('dig'), [sanitizeHost(args.host)], { mergeStderr: true })).stdout.trimEnd(),
  }),
  traceroute: fn({
    doc: 'The hops to a host.',
    examples: ["salt '*' network.traceroute archlinux.org"],
    params: { host },
    async run(args, ctx) {
      const { stdout, timedOut } = await askTool(ctx, requireBinary('traceroute'), [sanitizeHost(args.host)], {
        timeoutMs: 120_000,
      });
      return timedOut ? [] : parseTraceroute(stdout);
    },
  }),
  connect: fn({
    doc: 'Whether a port of a host answers.',
    examples: ["salt '*' network.connect archlinux.org 80", "salt '*' network.connect archlinux.org 80 timeout=3"],
    params: {
      host,
      port: p.string({ default: null, falsy: null }),
      kwargs: p.kwargs({ doc: 'proto (tcp, udp), timeout, family (ipv4, ipv6)' }),
    },
    run: (args) => connect(args.host, args.port, cleanKwargs(args.kwargs)),
  }),
  wol: fn({
    doc: 'Wakes a machine on the network.',
    examples: ["salt '*' network.wol 08-00-27-13-69-77"],
    params: {
      mac: p.string(),
      bcast: p.string({ default: '255.255.255.255' }),
      destport: p.int({ default: 9, fractions: 'cut' }),
    },
    run: (args) => wakeOnLan(args.mac, args.bcast, pyInt(args.destport)),
  }),
};

const showing = {
  netstat: fn({
    doc: 'Open sockets.',
    examples: ["salt '*' network.netstat"],
    run: (_, ctx) => sockets(ctx),
  }),
  active_tcp: fn({
    doc: 'Established TCP connections.',
    examples: ["salt '*' network.active_tcp"],
    run: () => activeTcp(),
  }),
  arp: fn({
    doc: 'Neighbours: hardware address → address.',
    examples: ["salt '*' network.arp"],
    run: () => neighbours(),
  }),
  routes: fn({
    doc: 'Routes of the kernel.',
    examples: ["salt '*' network.routes"],
    params: { family: p.string({ default: null, doc: 'inet or inet6' }) },
    run: (args, ctx) => readRoutes(args.family, ctx),
  }),
  default_route: fn({
    doc: 'Default routes.',
    examples: ["salt '*' network.default_route"],
    params: { family: p.string({ default: null, doc: 'inet or inet6' }) },
    async run(args, ctx) {
      requireFamily(args.family);
      const names: Value[] =
        args.family === 'inet'
          ? ['0.0.0.0', 'default']
          : args.family === 'inet6'
            ? ['::/0', 'default']
            : ['0.0.0.0', '::/0', 'default'];
      return (await readRoutes(args.family, ctx)).filter((route) => names.includes(route['destination'] ?? ''));
    },
  }),
  get_route: fn({
    doc: 'How an address is reached.',
    examples: ["salt '*' network.get_route 10.10.10.10"],
    params: { ip: p.string() },
    run: (args, ctx) => routeTo(args.ip, ctx),
  }),
  get_bufsize: fn({
    doc: 'Buffer sizes of an interface.',
    examples: ["salt '*' network.get_bufsize eth0"],
    params: { iface: p.string() },
    async run(args, ctx) {
      if (!pathExists('/sbin/ethtool')) return newDict();
      return parseRing((await askTool(ctx, '/sbin/ethtool', ['-g', args.iface], { mergeStderr: true })).stdout);
    },
  }),
  mod_bufsize: fn({
    doc: 'Changes buffer sizes of an interface: rx, tx, rx-mini, rx-jumbo.',
    examples: ["salt '*' network.mod_bufsize eth0 rx=16384 tx=16384"],
    params: { iface: p.string(), args: p.rest(), kwargs: p.kwargs() },
    async run(args, ctx) {
      if (!pathExists('/sbin/ethtool')) return false;
      const answer = (result: boolean, comment: string): PlainDict =>
        newDict([
          ['result', result],
          ['comment', comment],
        ]);
      const wanted = ['rx', 'tx', 'rx-mini', 'rx-jumbo'].flatMap((key) =>
        args.kwargs[key] === undefined ? [] : [key, pyStr(args.kwargs[key])],
      );
      if (args.args.length > 0)
        return answer(false, `Unknown arguments: ${args.args.map((item) => pyStr(item)).join(' ')}`);
      if (wanted.length === 0) return answer(false, 'Requires rx=<val> tx==<val> rx-mini=<val> and/or rx-jumbo=<val>');
      const output = (
        await runTool(ctx, '/sbin/ethtool', ['-G', args.iface, ...wanted], { mergeStderr: true })
      ).stdout.trim();
      return output ? answer(false, output) : answer(true, wanted.join(' '));
    },
  }),
};

const naming = {
  get_hostname: fn({
    doc: 'The host name.',
    examples: ["salt '*' network.get_hostname"],
    inline: true,
    run: () => hostname(),
  }),
  get_fqdn: fn({ doc: 'The fully qualified host name.', examples: ["salt '*' network.get_fqdn"], run: fullName }),
  fqdns: fn({
    doc: 'Names of all addresses of this machine.',
    examples: ["salt '*' network.fqdns"],
    async run(_, ctx) {
      const all = await readInterfaces(ctx);
      return newDict([
        ['fqdns', await reverseNames([...addressesOf(all, 'inet', false), ...addressesOf(all, 'inet6', false)])],
      ]);
    },
  }),
  mod_hostname: fn({
    doc: 'Changes the host name, also in /etc/hosts and, on Debian, /etc/hostname.',
    examples: ["salt '*' network.mod_hostname master.saltstack.com"],
    params: { hostname: p.string() },
    async run(args, ctx) {
      if (!/^[a-zA-Z0-9][a-zA-Z0-9.-]{0,252}$/.test(args.hostname))
        throw invocationError(`Invalid host name: ${args.hostname}`);
      const before = hostname();
      const command =
        which('hostnamectl') && pathExists('/run/systemd/system')
          ? ['hostnamectl', 'set-hostname', args.hostname]
          : ['hostname', args.hostname];
      requireTool(command[0] as string);
      if ((await runTool(ctx, command[0] as string, command.slice(1))).retcode !== 0) return false;
      const changed = (readText('/etc/hosts') ?? '').split('\n').map((line) => {
        const names = words(line);
        return names.includes(before) && !line.trimStart().startsWith('#')
          ? names.map((name) => (name === before ? args.hostname : name)).join('\t')
          : line;
      });
      writeFileSync('/etc/hosts', changed.join('\n'));
      if (dictGet(ctx.grains, 'os_family') === 'Debian') writeFileSync('/etc/hostname', `${args.hostname}\n`);
      return true;
    },
  }),
};

export default defineModule({
  name: 'network',
  doc: 'Interfaces, routes, names and reachability.',
  available: () => process.platform === 'linux' || 'network: only Linux is supported',
  reads: [
    'interfaces',
    'hw_addr',
    'hwaddr',
    'interface',
    'interface_ip',
    'ip_addrs',
    'ipaddrs',
    'ip_addrs6',
    'ipaddrs6',
    'ip_networks',
    'ip_networks6',
    'subnets',
    'subnets6',
    'in_subnet',
    'ip_in_subnet',
    'calc_net',
    'convert_cidr',
    'is_private',
    'is_loopback',
    'reverse_ip',
    'iphexval',
    'ifacestartswith',
    'ping',
    'dig',
    'traceroute',
    'connect',
    'netstat',
    'active_tcp',
    'arp',
    'routes',
    'default_route',
    'get_route',
    'get_bufsize',
    'get_hostname',
    'get_fqdn',
    'fqdns',
  ],
  functions: { ...addressFunctions, ...reaching, ...showing, ...naming },
});
