// Execution module `ip` on Debian: interfaces, routes and the host name in configuration files.

import { setTimeout as delay } from 'node:timers/promises';
import { defineModule, dictGet, fn, isTruthy, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { existsSync, readText, writeFileSync } from 'halite/sdk/fs';
import { askTool } from 'halite/sdk/system';
import { keepLines } from 'halite/sdk/text';
import { adapterOf, allInterfaces, asLines, render, writeInterface } from './interfaces.ts';
import { bonding, isYes, settingError } from './options.ts';
import { buildRoutes, buildSettings, networkSettings, routesOf } from './settings.ts';

const kinds = ['eth', 'bond', 'alias', 'clone', 'ipsec', 'dialup', 'bridge', 'slave', 'vlan', 'source'];
const needs: Readonly<Record<string, readonly [setting: string, message: string]>> = {
  slave: ['master', 'master is a required setting for slave interfaces'],
  bond: ['slaves', 'slaves is a required setting for bond interfaces'],
  bridge: ['ports', 'ports is a required setting for bridge interfaces on Debian or Ubuntu based systems'],
};
const packages: Readonly<Record<string, string>> = { vlan: 'vlan', bridge: 'bridge-utils' };

const iface = p.string({ doc: 'the interface' });
const iface_type = p.string({ doc: kinds.join(', ') });
const kwargs = p.kwargs({ doc: 'settings' });
/** With `test` it only returns the lines it would write. */
const onlySays = (args: { readonly kwargs: PlainDict }): boolean => isTruthy(args.kwargs['test'] ?? null);
const bondFile = (name: string): string => `/etc/modprobe.d/${name}.conf`;
const bondText = (name: string, opts: PlainDict): string =>
  `alias ${name} bonding\noptions ${name} ${Object.entries(bonding(opts, name))
    .map(([key, value]) => `${key}=${pyStr(value)} `)
    .join('')}`;

const interfaces = {
  get_interface: fn({
    doc: 'The lines of an interface.',
    examples: ["salt '*' ip.get_interface eth0"],
    params: { iface },
    run(args) {
      const found = allInterfaces().get(args.iface);
      return found ? asLines(render(args.iface, found)) : [];
    },
  }),
  build_interface: fn({
    doc: 'Writes an interface; returns its lines.',
    examples: ["salt '*' ip.build_interface eth0 eth True ipaddr=10.0.0.5 netmask=24 proto=static"],
    params: { iface, iface_type, enabled: p.bool({ doc: 'at boot' }), kwargs },
    reads: onlySays,
    async run({ iface, iface_type: given, enabled, kwargs }, ctx) {
      const type = given.toLowerCase();
      if (!kinds.includes(type))
        throw settingError(`Invalid option -- Interface: ${iface}, Option: ${type}, Expected: [${kinds.join('|')}]`);
      const need = needs[type];
      if (need && !(need[0] in kwargs)) throw settingError(need[1]);
      const adapter = adapterOf(iface, type, enabled, kwargs);
      if (isTruthy(kwargs['test'])) return asLines(render(iface, adapter));
      const wanted = packages[type];
      if (wanted && !(await ctx.call('pkg.version', wanted))) await ctx.call('pkg.install', wanted);
      return asLines(writeInterface(iface, adapter, kwargs['filename'] ? pyStr(kwargs['filename']) : null));
    },
  }),
  up: fn({
    doc: 'Starts an interface.',
    examples: ["salt '*' ip.up eth0 eth"],
    params: { iface, iface_type },
    run: async (args, ctx) =>
      ['slave', 'source'].includes(args.iface_type)
        ? null
        : (await askTool(ctx, 'ifup', [args.iface])).stdout.trimEnd(),
  }),
  down: fn({
    doc: 'Stops an interface.',
    examples: ["salt '*' ip.down eth0 eth"],
    params: { iface, iface_type },
    run: async (args, ctx) =>
      ['slave', 'source'].includes(args.iface_type)
        ? null
        : (await askTool(ctx, 'ifdown', [args.iface])).stdout.trimEnd(),
  }),
};

const bonds = {
  get_bond: fn({
    doc: 'The bonding file for the kernel.',
    examples: ["salt '*' ip.get_bond bond0"],
    params: { iface },
    run: (args) => keepLines(readText(bondFile(args.iface)) ?? ''),
  }),
  build_bond: fn({
    doc: 'Writes the bonding file for the kernel.',
    examples: ["salt '*' ip.build_bond bond0 mode=balance-alb"],
    params: { iface, kwargs },
    reads: onlySays,
    async run({ iface, kwargs }, ctx) {
      const text = bondText(iface, kwargs);
      if (isTruthy(kwargs['test'])) return keepLines(text);
      if (!existsSync('/etc/modprobe.d')) throw settingError(`${bondFile(iface)} cannot be written.`);
      writeFileSync(bondFile(iface), text);
      await ctx.call('kmod.load', 'bonding');
      if (!(await ctx.call('pkg.version', 'ifenslave'))) await ctx.call('pkg.install', 'ifenslave');
      return keepLines(text);
    },
  }),
};

const settings = {
  get_routes: fn({
    doc: 'The scripts with the routes of an interface.',
    examples: ["salt '*' ip.get_routes eth0"],
    params: { iface },
    run: (args) => routesOf(args.iface),
  }),
  build_routes: fn({
    doc: 'Writes the scripts with the routes of an interface.',
    examples: ["salt '*' ip.build_routes eth0 routes='[{ipaddr: 10.1.0.0, netmask: 16, gateway: 10.0.0.1}]'"],
    params: { iface, kwargs },
    reads: onlySays,
    run: (args) => buildRoutes(args.iface, args.kwargs),
  }),
  get_network_settings: fn({
    doc: 'Settings of the whole machine.',
    examples: ["salt '*' ip.get_network_settings"],
    run: () => networkSettings(),
  }),
  build_network_settings: fn({
    doc: 'Writes settings of the whole machine.',
    examples: ["salt '*' ip.build_network_settings enabled=yes hostname=web1.example.com"],
    params: { kwargs },
    reads: onlySays,
    run: (args) => buildSettings(args.kwargs),
  }),
  apply_network_settings: fn({
    doc: 'Restarts the network, unless a reboot is required instead.',
    examples: ["salt '*' ip.apply_network_settings"],
    params: { kwargs },
    async run({ kwargs }, ctx) {
      const named = isYes(kwargs['apply_hostname'] ?? false)
        ? 'hostname' in kwargs && isTruthy(await ctx.call('network.mod_hostname', kwargs['hostname'] as Value))
        : true;
      if (isYes(kwargs['require_reboot'] ?? false)) {
        ctx.log.warn('a reboot is needed for the network settings');
        return named;
      }
      const stopped = isTruthy(await ctx.call('service.stop', 'networking'));
      await delay(2000, undefined, { signal: ctx.signal });
      return stopped && isTruthy(await ctx.call('service.start', 'networking')) && named;
    },
  }),
};

export default defineModule({
  name: 'debian_ip',
  virtualName: 'ip',
  doc: 'Interfaces, routes and the name of the machine on Debian.',
  available: ({ grains }) =>
    dictGet(grains, 'os_family') === 'Debian' || 'The debian_ip module could not be loaded: unsupported OS family',
  reads: ['get_interface', 'get_bond', 'get_routes', 'get_network_settings'],
  functions: { ...interfaces, ...bonds, ...settings },
});
