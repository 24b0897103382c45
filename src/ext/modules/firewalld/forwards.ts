// Functions of `firewalld` for ICMP blocks and forwarded ports.

import { fn, type ModuleContext, type ModuleFunction, newDict, p } from 'halite/sdk';
import { lines, words } from 'halite/sdk/text';
import { ask, lasting, masquerades, permanent, zone } from './command.ts';

const icmpTypes = async (isPermanent: boolean, ctx: ModuleContext): Promise<string[]> =>
  words(await ask(ctx, '--get-icmptypes', ...lasting(isPermanent)));
const icmpBlocks = async (of: string, isPermanent: boolean, ctx: ModuleContext): Promise<string[]> =>
  words(await ask(ctx, `--zone=${of}`, '--list-icmp-blocks', ...lasting(isPermanent)));

const icmpChange = (block: boolean): ModuleFunction =>
  fn({
    doc: block ? 'Blocks a kind of ICMP message.' : 'Blocks a kind of ICMP message no longer.',
    examples: [`salt '*' firewalld.${block ? 'block' : 'allow'}_icmp zone echo-reply`],
    params: { zone, icmp: p.string({ doc: 'the kind' }), permanent },
    async run(args, ctx) {
      if (!(await icmpTypes(args.permanent, ctx)).includes(args.icmp)) {
        ctx.log.error('Invalid ICMP type');
        return false;
      }
      if ((await icmpBlocks(args.zone, args.permanent, ctx)).includes(args.icmp) === block) return 'success';
      const option = `--${block ? 'add' : 'remove'}-icmp-block=${args.icmp}`;
      return ask(ctx, `--zone=${args.zone}`, option, ...lasting(args.permanent));
    },
  });

export const icmp = {
  get_icmp_types: fn({
    doc: 'Kinds of ICMP messages.',
    examples: ["salt '*' firewalld.get_icmp_types"],
    params: { permanent },
    run: (args, ctx) => icmpTypes(args.permanent, ctx),
  }),
  list_icmp_block: fn({
    doc: 'Kinds of ICMP messages that a zone blocks.',
    examples: ["salt '*' firewalld.list_icmp_block zone"],
    params: { zone, permanent },
    run: (args, ctx) => icmpBlocks(args.zone, args.permanent, ctx),
  }),
  block_icmp: icmpChange(true),
  allow_icmp: icmpChange(false),
};

const forwardParams = {
  zone,
  src: p.string({ doc: 'port here' }),
  dest: p.string({ doc: 'port there' }),
  proto: p.string({ default: 'tcp', doc: 'protocol' }),
  dstaddr: p.string({ default: '', doc: 'address there' }),
  permanent,
};
export const force_masquerade = p.bool({ default: false, doc: 'enable masquerading first' });

export async function forcedMasquerade(of: string, force: boolean, ctx: ModuleContext): Promise<void> {
  if (force && !(await masquerades(of, true, ctx))) await ask(ctx, `--zone=${of}`, '--add-masquerade', '--permanent');
}

export const forwards = {
  list_port_fwd: fn({
    doc: 'Forwarded ports of a zone.',
    examples: ["salt '*' firewalld.list_port_fwd public"],
    params: { zone, permanent },
    run: async (args, ctx) =>
      lines(await ask(ctx, `--zone=${args.zone}`, '--list-forward-ports', ...lasting(args.permanent))).map((line) => {
        const [src = '', proto = '', dest = '', addr = ''] = line.split(':').map((part) => part.split('=')[1] ?? '');
        return newDict(
          Object.entries({
            'Source port': src,
            Protocol: proto,
            'Destination port': dest,
            'Destination address': addr,
          }),
        );
      }),
  }),
  add_port_fwd: fn({
    doc: 'Adds a port forwarding.',
    examples: ["salt '*' firewalld.add_port_fwd public 80 443 tcp"],
    params: { ...forwardParams, force_masquerade },
    async run(args, ctx) {
      await forcedMasquerade(args.zone, args.force_masquerade, ctx);
      const option = `--add-forward-port=port=${args.src}:proto=${args.proto}:toport=${args.dest}:toaddr=${args.dstaddr}`;
      return ask(ctx, `--zone=${args.zone}`, option, ...lasting(args.permanent));
    },
  }),
  remove_port_fwd: fn({
    doc: 'Removes a port forwarding.',
    examples: ["salt '*' firewalld.remove_port_fwd public 80 443 tcp"],
    params: forwardParams,
    run: (args, ctx) =>
      ask(
        ctx,
        `--zone=${args.zone}`,
        `--remove-forward-port=port=${args.src}:proto=${args.proto}:toport=${args.dest}:toaddr=${args.dstaddr}`,
        ...lasting(args.permanent),
      ),
  }),
};
