// Execution module `virt`: virtual machines and storage pools of libvirt, with virsh.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineModule, fn, type ModuleContext, newDict, type PlainDict, p } from 'halite/sdk';
import { isFile, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { poolFunctions } from './pools.ts';
import { ask, fields, kwargs, names, virsh, worked } from './virsh.ts';

const vm_ = p.string({ doc: 'the machine' });
const oneOrAll = p.string({ default: null, doc: 'the machine; all otherwise' });

const domains = async (given: PlainDict, ctx: ModuleContext, which = '--all'): Promise<string[]> =>
  names(await virsh(ctx, given, 'list', which, '--name'));

/** States as Salt names them. */
const states: Readonly<Record<string, string>> = {
  'in shutdown': 'shutdown',
  'shut off': 'shutdown',
  crashed: 'crashed',
  paused: 'paused',
  running: 'running',
  idle: 'running',
};

const stateOf = async (vm: string, given: PlainDict, ctx: ModuleContext): Promise<string> =>
  states[(await virsh(ctx, given, 'domstate', vm)).trim()] ?? 'unknown';

async function infoOf(vm: string, given: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const facts = fields(await virsh(ctx, given, 'dominfo', vm));
  const number = (key: string): number => Number(/[\d.]+/.exec(facts.get(key) ?? '')?.[0] ?? 0);
  return newDict(
    Object.entries({
      cpu: number('CPU(s)'),
      cputime: Math.round(number('CPU time') * 1e9),
      maxMem: number('Max memory'),
      mem: number('Used memory'),
      state: states[facts.get('State') ?? ''] ?? 'unknown',
      uuid: facts.get('UUID') ?? '',
    }),
  );
}

/** A property of one machine, or of all by name. */
const each = (fun: string, doc: string, read: typeof infoOf | typeof stateOf) =>
  fn({
    doc,
    examples: [`salt '*' virt.${fun}`],
    params: { vm_: oneOrAll, kwargs },
    async run(args, ctx) {
      const found = newDict();
      const wanted = args.vm_ === null ? await domains(args.kwargs, ctx) : [args.vm_];
      for (const vm of wanted) found[vm] = await read(vm, args.kwargs, ctx);
      return found;
    },
  });

/** An action on one machine; its parameter is named `vm_` in most of Salt's functions. */
const step = (fun: string, doc: string, ...verb: string[]) =>
  fn({
    doc,
    examples: [`salt '*' virt.${fun} web`],
    params: { vm_, kwargs },
    run: (args, ctx) => worked(ctx, args.kwargs, ...verb, args.vm_),
  });

/** The same, with the parameter `name`. */
const namedStep = (fun: string, doc: string, ...verb: string[]) =>
  fn({
    doc,
    examples: [`salt '*' virt.${fun} web`],
    params: { name: vm_, kwargs },
    run: (args, ctx) => worked(ctx, args.kwargs, ...verb, args.name),
  });

async function define(xml: string, given: PlainDict, ctx: ModuleContext): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'halite-virt-'));
  try {
    writeFileSync(join(folder, 'domain.xml'), xml, { mode: 0o600 });
    return await worked(ctx, given, 'define', join(folder, 'domain.xml'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const listing = (fun: string, doc: string, which?: string) =>
  fn({
    doc,
    examples: [`salt '*' virt.${fun}`],
    params: { kwargs },
    run: (args, ctx) => domains(args.kwargs, ctx, which),
  });

const functions = {
  list_domains: listing('list_domains', 'Machines.'),
  list_active_vms: listing('list_active_vms', 'Machines that run.', '--state-running'),
  list_inactive_vms: listing('list_inactive_vms', 'Machines that do not run.', '--inactive'),
  vm_state: each('vm_state', 'Whether machines run.', stateOf),
  vm_info: each('vm_info', 'Processors, memory and state of machines.', infoOf),
  get_xml: fn({
    doc: 'The description of a machine.',
    examples: ["salt '*' virt.get_xml web"],
    params: { vm_, kwargs },
    run: (args, ctx) => virsh(ctx, args.kwargs, 'dumpxml', args.vm_),
  }),
  define_xml_str: fn({
    doc: 'Creates a machine from a description.',
    examples: ["salt '*' virt.define_xml_str '<domain>…</domain>'"],
    params: { xml: p.string({ doc: 'the description' }), kwargs },
    run: (args, ctx) => define(args.xml, args.kwargs, ctx),
  }),
  define_xml_path: fn({
    doc: 'Creates a machine from a file with a description.',
    examples: ["salt '*' virt.define_xml_path /srv/web.xml"],
    params: { path: p.path({ doc: 'the file' }), kwargs },
    run: (args, ctx) => isFile(args.path) && define(readFileSync(args.path, 'utf8'), args.kwargs, ctx),
  }),
  set_autostart: fn({
    doc: 'Sets whether a machine starts with the hypervisor.',
    examples: ["salt '*' virt.set_autostart web state=on"],
    params: {
      vm_,
      state: p.oneOf(['bool', 'string'], { default: 'on', doc: 'on or off; YAML reads them as true and false' }),
      kwargs,
    },
    async run(args, ctx) {
      const on = args.state === 'on' || args.state === true;
      if (!on && args.state !== 'off' && args.state !== false) return false;
      return (await ask(ctx, args.kwargs, 'autostart', args.vm_, ...(on ? [] : ['--disable']))).retcode === 0;
    },
  }),
  start: namedStep('start', 'Starts a machine.', 'start'),
  stop: namedStep('stop', 'Cuts the power of a machine.', 'destroy'),
  shutdown: step('shutdown', 'Asks a machine to shut down.', 'shutdown'),
  reboot: namedStep('reboot', 'Asks a machine to restart.', 'reboot'),
  reset: step('reset', 'Presses the reset button.', 'reset'),
  pause: step('pause', 'Halts a machine.', 'suspend'),
  resume: step('resume', 'Lets a halted machine go on.', 'resume'),
  undefine: step('undefine', 'Forgets a machine.', 'undefine', '--nvram'),
};

export default defineModule({
  name: 'virt',
  doc: 'Virtual machines and storage pools of libvirt.',
  available: () => which('virsh') !== null || 'Cannot load virt module: virsh is not installed',
  reads: [
    'list_domains',
    'list_active_vms',
    'list_inactive_vms',
    'vm_state',
    'vm_info',
    'get_xml',
    'list_pools',
    'pool_info',
    'pool_get_xml',
    'pool_list_volumes',
  ],
  functions: { ...functions, ...poolFunctions },
});
