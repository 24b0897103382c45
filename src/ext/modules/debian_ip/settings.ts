// Settings of the whole machine (name, domain, whether the network starts), and routes of interfaces.

import { newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { chmodSync, existsSync, readText, writeFileSync } from 'halite/sdk/fs';
import { keepLines } from 'halite/sdk/text';
import { isNo, isYes, settingError } from './options.ts';

const networkingFile = '/etc/default/networking';
const resolvFile = '/etc/resolv.conf';

function current(): { networking: string; hostname: string; domainname: string; searchdomain: string } {
  const resolv = readText(resolvFile) ?? '';
  return {
    networking: /^CONFIGURE_INTERFACES=(.*)$/m.exec(readText(networkingFile) ?? '')?.[1]?.trim() ?? '',
    hostname: (readText('/etc/hostname') ?? '').split('\n')[0] ?? '',
    domainname: /^domain\s+(\S+)/m.exec(resolv)?.[1] ?? '',
    searchdomain: /^search\s+(.*)$/m.exec(resolv)?.[1]?.trim() ?? '',
  };
}

const shown = (settings: {
  networking: string;
  hostname: string;
  domainname: string;
  searchdomain: string;
}): string[] =>
  keepLines(
    [
      ['NETWORKING', settings.networking],
      ['HOSTNAME', settings.hostname],
      ['DOMAIN', settings.domainname],
      ['SEARCH', settings.searchdomain],
    ]
      .filter(([, value]) => value)
      .map(([key, value]) => `${key}=${value}\n`)
      .join(''),
  );

export const networkSettings = (): string[] => shown(current());

const networkingText = (networking: string): string => `# Configuration for networking init script being run during
# the boot sequence

# Set to 'no' to skip interfaces configuration on boot
CONFIGURE_INTERFACES=${networking}

# Don't configure these interfaces. Shell wildcards supported/
#EXCLUDE_INTERFACES=

# Set to 'yes' to enable additional verbosity
#VERBOSE=no
`;

function setResolv(domain: string, search: string): void {
  const text = readText(resolvFile) ?? '';
  const rest = text.split('\n').filter((line) => !/^(?:domain|search)\s/.test(line));
  const head = [...(domain ? [`domain ${domain}`] : []), ...(search ? [`search ${search}`] : [])];
  writeFileSync(resolvFile, [...head, ...rest].join('\n'));
}

/** Applies the requested settings; under test only returns them. */
export function buildSettings(given: PlainDict): string[] {
  const before = current();
  const opts = newDict(Object.entries(given).map(([key, value]) => [key.toLowerCase(), value]));
  const asked = 'enabled' in opts ? (opts['enabled'] as Value) : before.networking;
  if (!isYes(asked) && !isNo(asked))
    throw settingError(
      'Invalid network setting -- Setting: networking, Expected: [yes|on|true|1|True|no|off|false|0|False]',
    );
  const full = 'hostname' in opts ? pyStr(opts['hostname'] ?? '') : before.hostname;
  if (!full) throw settingError('Invalid network setting -- Setting: hostname, Expected: [server1.example.com]');
  const dot = full.indexOf('.');
  const now = {
    networking: isYes(asked) ? 'yes' : 'no',
    hostname: dot < 0 ? full : full.slice(0, dot),
    domainname: dot < 0 ? before.domainname : full.slice(dot + 1),
    searchdomain: 'search' in opts ? pyStr(opts['search'] ?? '') : before.searchdomain,
  };
  if (opts['test']) return shown(now);
  writeFileSync(networkingFile, networkingText(now.networking));
  if (now.domainname !== before.domainname || now.searchdomain !== before.searchdomain)
    setResolv(now.domainname, now.searchdomain);
  return shown(now);
}

/** A script that adds or removes the routes of an interface when it goes up or down. */
function routeScript(verb: 'add' | 'del', iface: string, routes: readonly PlainDict[]): string {
  const lines = routes.flatMap((route) => {
    const text = (key: string, prefix: string): string => (route[key] ? `${prefix}${pyStr(route[key] as Value)}` : '');
    return [
      ...(route['name'] ? [`# ${pyStr(route['name'])}`] : []),
      `ip route ${verb} ${text('ipaddr', '')}${text('netmask', '/')} ${text('gateway', 'via ')} dev ${iface}${text('metric', ' metric ')}`,
    ];
  });
  return `#!/bin/sh\n# ${verb}\ntest "\${IFACE}" = "${iface}" || exit 0\n${lines.map((line) => `${line}\n`).join('')}`;
}

const places = { add: '/etc/network/if-up.d', del: '/etc/network/if-down.d' } as const;
/** run-parts ignores names with dots. */
const scriptOf = (folder: string, iface: string): string => `${folder}/route-${iface.replaceAll('.', '_')}`;

export const routesOf = (iface: string): string[] =>
  Object.values(places).flatMap((folder) => keepLines(readText(scriptOf(folder, iface)) ?? ''));

export function buildRoutes(iface: string, settings: PlainDict): string[] {
  const routes = settings['routes'];
  if (!Array.isArray(routes))
    throw settingError(`Invalid option -- Route interface: ${iface}, Option: routes, Expected: [List of routes]`);
  const scripts = Object.entries(places).map(
    ([verb, folder]) => [folder, routeScript(verb as 'add' | 'del', iface, routes as PlainDict[])] as const,
  );
  if (settings['test']) return scripts.flatMap(([, text]) => keepLines(text));
  for (const [folder, text] of scripts) {
    const file = scriptOf(folder, iface);
    if (!existsSync(folder)) throw settingError(`${file} cannot be written. ${folder} does not exist`);
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  }
  return routesOf(iface);
}
