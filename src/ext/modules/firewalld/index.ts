// Execution module `firewalld`: zones and services of the firewall, with firewall-cmd.

import { commandError, defineModule, fn, type ModuleFunction, type Param, p } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import {
  ask,
  inZone,
  lasting,
  manage,
  masquerades,
  parseZones,
  permanent,
  restart,
  someZone,
  zone,
} from './command.ts';
import { force_masquerade, forcedMasquerade, forwards, icmp } from './forwards.ts';

/** Functions that list, add and remove one kind of setting of a zone. `option` is its name in firewall-cmd. */
function listFunctions(
  what: { list: string; one: string; option: string; listOption?: string; byLine?: boolean },
  docs: { list: string; add: string; remove: string },
): Record<string, ModuleFunction> {
  const item: Param<string> = p.string({ doc: what.one.replaceAll('_', ' ') });
  const changed = (verb: 'add' | 'remove', doc: string): ModuleFunction =>
    fn({
      doc,
      examples: [`salt '*' firewalld.${verb}_${what.one} public …`],
      params: { zone, [what.one]: item, permanent },
      run: (args, ctx) =>
        ask(
          ctx,
          `--zone=${(args as { zone: string }).zone}`,
          `--${verb}-${what.option}=${(args as unknown as Record<string, string>)[what.one]}`,
          ...lasting((args as { permanent: boolean }).permanent),
        ),
    });
  return {
    [what.list]: fn({
      doc: docs.list,
      examples: [`salt '*' firewalld.${what.list} public`],
      params: { zone, permanent },
      run: async (args, ctx) => {
        const text = await ask(
          ctx,
          `--zone=${args.zone}`,
          `--list-${what.listOption ?? `${what.option}s`}`,
          ...lasting(args.permanent),
        );
        return what.byLine ? lines(text) : words(text);
      },
    }),
    [`add_${what.one}`]: changed('add', docs.add),
    [`remove_${what.one}`]: changed('remove', docs.remove),
  };
}

const general = {
  version: fn({
    doc: 'Version of the firewall.',
    examples: ["salt '*' firewalld.version"],
    run: (_, ctx) => ask(ctx, '--version'),
  }),
  reload_rules: fn({
    doc: 'Loads the permanent configuration.',
    examples: ["salt '*' firewalld.reload_rules"],
    run: (_, ctx) => ask(ctx, '--reload'),
  }),
  make_permanent: fn({
    doc: 'Makes the running configuration permanent.',
    examples: ["salt '*' firewalld.make_permanent"],
    run: (_, ctx) => ask(ctx, '--runtime-to-permanent'),
  }),
  default_zone: fn({
    doc: 'The default zone.',
    examples: ["salt '*' firewalld.default_zone"],
    run: (_, ctx) => ask(ctx, '--get-default-zone'),
  }),
  set_default_zone: fn({
    doc: 'Sets the default zone.',
    examples: ["salt '*' firewalld.set_default_zone public"],
    params: { zone },
    run: (args, ctx) => ask(ctx, `--set-default-zone=${args.zone}`),
  }),
  get_zones: fn({
    doc: 'Names of zones.',
    examples: ["salt '*' firewalld.get_zones"],
    params: { permanent },
    run: async (args, ctx) => words(await ask(ctx, '--get-zones', ...lasting(args.permanent))),
  }),
  list_zones: fn({
    doc: 'All zones with their settings.',
    examples: ["salt '*' firewalld.list_zones"],
    params: { permanent },
    run: async (args, ctx) => parseZones(await ask(ctx, '--list-all-zones', ...lasting(args.permanent))),
  }),
  list_all: fn({
    doc: 'A zone with its settings.',
    examples: ["salt '*' firewalld.list_all public"],
    params: { zone: someZone, permanent },
    run: async (args, ctx) =>
      parseZones(await ask(ctx, ...inZone(args.zone), '--list-all', ...lasting(args.permanent))),
  }),
  new_zone: fn({
    doc: 'Creates a zone.',
    examples: ["salt '*' firewalld.new_zone mine"],
    params: { zone, restart },
    run: (args, ctx) => manage(`zone=${args.zone}`, true, args.restart, ctx),
  }),
  delete_zone: fn({
    doc: 'Removes a zone.',
    examples: ["salt '*' firewalld.delete_zone mine"],
    params: { zone, restart },
    run: (args, ctx) => manage(`zone=${args.zone}`, false, args.restart, ctx),
  }),
  get_masquerade: fn({
    doc: 'Whether a zone has masquerading.',
    examples: ["salt '*' firewalld.get_masquerade public"],
    params: { zone: someZone, permanent },
    run: (args, ctx) => masquerades(args.zone, args.permanent, ctx),
  }),
  add_masquerade: fn({
    doc: 'Enables masquerading of a zone.',
    examples: ["salt '*' firewalld.add_masquerade dmz"],
    params: { zone: someZone, permanent },
    run: (args, ctx) => ask(ctx, ...inZone(args.zone), '--add-masquerade', ...lasting(args.permanent)),
  }),
  remove_masquerade: fn({
    doc: 'Disables masquerading of a zone.',
    examples: ["salt '*' firewalld.remove_masquerade dmz"],
    params: { zone: someZone, permanent },
    run: (args, ctx) => ask(ctx, ...inZone(args.zone), '--remove-masquerade', ...lasting(args.permanent)),
  }),
};

const service = p.string({ doc: 'the service' });
const name = p.string({ doc: 'the service' });
const services = {
  get_services: fn({
    doc: 'Names of services.',
    examples: ["salt '*' firewalld.get_services"],
    params: { permanent },
    run: async (args, ctx) => words(await ask(ctx, '--get-services', ...lasting(args.permanent))),
  }),
  new_service: fn({
    doc: 'Makes a service.',
    examples: ["salt '*' firewalld.new_service mine"],
    params: { name, restart },
    run: (args, ctx) => manage(`service=${args.name}`, true, args.restart, ctx),
  }),
  delete_service: fn({
    doc: 'Removes a service.',
    examples: ["salt '*' firewalld.delete_service mine"],
    params: { name, restart },
    run: (args, ctx) => manage(`service=${args.name}`, false, args.restart, ctx),
  }),
  list_services: fn({
    doc: 'Services that a zone allows.',
    examples: ["salt '*' firewalld.list_services public"],
    params: { zone: someZone, permanent },
    run: async (args, ctx) =>
      words(await ask(ctx, ...inZone(args.zone), '--list-services', ...lasting(args.permanent))),
  }),
  add_service: fn({
    doc: 'Allows a service.',
    examples: ["salt '*' firewalld.add_service ssh public"],
    params: { service, zone: someZone, permanent },
    run: (args, ctx) => ask(ctx, ...inZone(args.zone), `--add-service=${args.service}`, ...lasting(args.permanent)),
  }),
  remove_service: fn({
    doc: 'Removes a service from the allowed ones.',
    examples: ["salt '*' firewalld.remove_service ssh public"],
    params: { service, zone: someZone, permanent },
    run: (args, ctx) => ask(ctx, ...inZone(args.zone), `--remove-service=${args.service}`, ...lasting(args.permanent)),
  }),
  ...serviceParts('port'),
  ...serviceParts('protocol'),
};

/** Ports and protocols a service consists of. */
function serviceParts(kind: 'port' | 'protocol'): Record<string, ModuleFunction> {
  const change = (verb: 'add' | 'remove'): ModuleFunction =>
    fn({
      doc: `${verb === 'add' ? 'Adds' : 'Removes'} a ${kind} of a service.`,
      examples: [`salt '*' firewalld.${verb}_service_${kind} zone 80`],
      params: { service, [kind]: p.string({ doc: `the ${kind}` }) },
      async run(args, ctx) {
        const given = args as unknown as Record<string, string>;
        if (kind === 'port' && !words(await ask(ctx, '--get-services', '--permanent')).includes(given['service'] ?? ''))
          throw commandError('The service does not exist.');
        return ask(ctx, '--permanent', `--service=${given['service']}`, `--${verb}-${kind}=${given[kind]}`);
      },
    });
  return {
    [`get_service_${kind}s`]: fn({
      doc: `${kind === 'port' ? 'Ports' : 'Protocols'} of a service.`,
      examples: [`salt '*' firewalld.get_service_${kind}s zone`],
      params: { service },
      run: async (args, ctx) => words(await ask(ctx, '--permanent', `--service=${args.service}`, `--get-${kind}s`)),
    }),
    [`add_service_${kind}`]: change('add'),
    [`remove_service_${kind}`]: change('remove'),
  };
}

const lists = {
  ...listFunctions(
    { list: 'list_ports', one: 'port', option: 'port' },
    { list: 'Ports a zone lets in.', add: 'Lets a port in.', remove: 'Lets a port in no longer.' },
  ),
  ...listFunctions(
    { list: 'get_interfaces', one: 'interface', option: 'interface' },
    {
      list: 'Interfaces of a zone.',
      add: 'Puts an interface into a zone.',
      remove: 'Takes an interface out of a zone.',
    },
  ),
  ...listFunctions(
    { list: 'get_sources', one: 'source', option: 'source' },
    {
      list: 'Source addresses of a zone.',
      add: 'Puts addresses into a zone.',
      remove: 'Takes addresses out of a zone.',
    },
  ),
  ...listFunctions(
    { list: 'get_rich_rules', one: 'rich_rule', option: 'rich-rule', byLine: true },
    { list: 'Rules of a zone in the rich language.', add: 'Adds such a rule.', remove: 'Removes such a rule.' },
  ),
  add_port: fn({
    doc: 'Allows a port.',
    examples: ["salt '*' firewalld.add_port internal 443/tcp"],
    params: { zone, port: p.string({ doc: 'port and protocol' }), permanent, force_masquerade },
    async run(args, ctx) {
      await forcedMasquerade(args.zone, args.force_masquerade, ctx);
      return ask(ctx, `--zone=${args.zone}`, `--add-port=${args.port}`, ...lasting(args.permanent));
    },
  }),
};

export default defineModule({
  name: 'firewalld',
  doc: 'Zones and services of the firewall.',
  available: () =>
    which('firewall-cmd') !== null ||
    'The firewalld execution module cannot be loaded: the firewall-cmd binary is not in the path.',
  reads: [
    'version',
    'default_zone',
    'get_zones',
    'list_zones',
    'list_all',
    'get_masquerade',
    'get_services',
    'list_services',
    'get_service_ports',
    'get_service_protocols',
    'get_icmp_types',
    'list_icmp_block',
    'list_port_fwd',
    'list_ports',
    'get_interfaces',
    'get_sources',
    'get_rich_rules',
  ],
  functions: { ...general, ...services, ...icmp, ...forwards, ...lists },
});
