// Execution module `iptables`: rules, chains and policies of the packet filter.

import { dirname } from 'node:path';
import {
  commandError,
  defineModule,
  dictGet,
  fn,
  isDict,
  type ModuleContext,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { mkdirSync, readFileSync } from 'halite/sdk/fs';
import { askTool, which } from 'halite/sdk/system';
import { pyRegex, shellSplit } from 'halite/sdk/text';
import { ruleText } from './rule.ts';
import { parseSaved } from './saved.ts';

const toolOf = (family: string): string => (family === 'ipv6' ? 'ip6tables' : 'iptables');

/** The file with the rules for the next boot. */
function rulesFile(family: string, ctx: ModuleContext): string {
  const os = pyStr(dictGet(ctx.grains, 'os') ?? '');
  const v6 = family === 'ipv6';
  const byFamily: Readonly<Record<string, string>> = {
    RedHat: `/etc/sysconfig/${v6 ? 'ip6tables' : 'iptables'}`,
    Arch: `/etc/iptables/${v6 ? 'ip6tables' : 'iptables'}.rules`,
    Debian: `/etc/iptables/rules.${v6 ? 'v6' : 'v4'}`,
    Suse: '/etc/sysconfig/scripts/SuSEfirewall2-custom',
    Void: `/etc/iptables/${family === 'ipv4' ? 'iptables' : 'ip6tables'}.rules`,
  };
  const byOs: Readonly<Record<string, string>> = {
    Gentoo: `/var/lib/${v6 ? 'ip6tables' : 'iptables'}/rules-save`,
    Alpine: `/etc/iptables/${v6 ? 'rules6-save' : 'rules-save'}`,
  };
  const found = byFamily[pyStr(dictGet(ctx.grains, 'os_family') ?? '')] ?? byOs[os];
  if (!found) throw commandError(`Saving iptables to file is not supported on ${os}.`);
  return found;
}

/** The tool's error output; '' on success. */
async function complaint(family: string, args: readonly string[], ctx: ModuleContext): Promise<string> {
  const { retcode, stderr } = await askTool(ctx, toolOf(family), ['--wait', ...args]);
  ctx.setRetcode(retcode);
  return stderr.trimEnd();
}

const saved = async (family: string, args: readonly string[], ctx: ModuleContext): Promise<string> =>
  (await askTool(ctx, `${toolOf(family)}-save`, args)).stdout;

async function check(table: string, chain: string, rule: string, family: string, ctx: ModuleContext): Promise<boolean> {
  const { retcode } = await askTool(ctx, toolOf(family), ['-t', table, '-C', chain, ...shellSplit(rule)]);
  return retcode === 0;
}

async function policyOf(rules: PlainDict, table: string, chain: string): Promise<Value> {
  const found = rules[table];
  const entry = found !== undefined && isDict(found) ? dictGet(found, chain) : undefined;
  return entry !== undefined && isDict(entry) ? (dictGet(entry, 'policy') ?? null) : null;
}

async function keep(filename: string | null, family: string, ctx: ModuleContext): Promise<string> {
  const file = filename || rulesFile(family, ctx);
  const filters = await ctx.call('config.option', 'iptables.save_filters', []);
  const patterns = Array.isArray(filters) ? filters.map((pattern) => pyRegex(pyStr(pattern))) : [];
  const text = (await saved(family, [], ctx)).trimEnd();
  const kept = text.split('\n').filter((line) => !patterns.some((pattern) => pattern.test(line)));
  mkdirSync(dirname(file), { recursive: true });
  return pyStr(await ctx.call('file.write', file, kept.join('\n')));
}

/** Counted from the end when negative, as in lists. */
async function place(table: string, chain: string, position: number, family: string, ctx: ModuleContext) {
  if (position >= 0) return position;
  const tables = parseSaved(await saved(family, [], ctx));
  const rules = ((tables[table] as PlainDict | undefined)?.[chain] as PlainDict | undefined)?.['rules'];
  const size = Array.isArray(rules) ? rules.length : 0;
  return Math.max(size + position + 1, 1);
}

const noChain = 'Error: Chain needs to be specified';
const noRule = 'Error: Rule needs to be specified';
const table = p.string({ default: 'filter', doc: 'the table' });
const chain = p.string({ default: null, doc: 'the chain' });
const rule = p.string({ default: null, doc: 'the rule without table and chain' });
const family = p.string({ default: 'ipv4', doc: 'ipv4 or ipv6' });
const conf_file = p.path({ default: null, doc: 'file of saved rules; by default that of the system' });

const buildRule = fn({
  doc: 'Builds the text of a rule from its parts; with `full` the whole command.',
  examples: ["salt '*' iptables.build_rule match=state connstate=RELATED,ESTABLISHED jump=ACCEPT"],
  params: {
    table: p.string({ default: 'filter', doc: 'the table' }),
    chain: p.string({ default: null, doc: 'the chain' }),
    command: p.string({ default: null, doc: 'A, I, D, …' }),
    position: p.string({ default: '', nullable: true, doc: 'position in the chain' }),
    full: p.truthy({ default: null, doc: 'the whole command' }),
    family,
    kwargs: p.kwargs({ doc: 'parts of the rule: proto, dport, jump, …' }),
  },
  run({ table, chain, command, position, full, family, kwargs }) {
    const text = ruleText(kwargs);
    if (!full || text.startsWith('Error:')) return text;
    if (!table) return 'Error: Table needs to be specified';
    if (!chain) return noChain;
    if (!command) return 'Error: Command needs to be specified';
    const flag = 'ACDIRLSFZNXPE'.includes(command) ? '-' : '--';
    const tool = which(toolOf(family)) ?? toolOf(family);
    return `${tool} --wait -t ${table} ${flag}${command} ${chain} ${position === null ? '' : position} ${text}`;
  },
});

const reading = {
  version: fn({
    doc: 'Version of the tool.',
    examples: ["salt '*' iptables.version"],
    params: { family },
    run: async (args, ctx) => (await askTool(ctx, toolOf(args.family), ['--version'])).stdout.split(/\s+/)[1] ?? '',
  }),
  get_saved_rules: fn({
    doc: 'Rules in the file read at boot.',
    examples: ["salt '*' iptables.get_saved_rules"],
    params: { conf_file, family },
    run: (args, ctx) => parseSaved(readFileSync(args.conf_file || rulesFile(args.family, ctx), 'utf8')),
  }),
  get_rules: fn({
    doc: 'Active rules.',
    examples: ["salt '*' iptables.get_rules"],
    params: { family },
    run: async (args, ctx) => parseSaved(await saved(args.family, [], ctx)),
  }),
  get_saved_policy: fn({
    doc: 'Policy of a chain in the file read at boot.',
    examples: ["salt '*' iptables.get_saved_policy filter INPUT"],
    params: { table, chain, conf_file, family },
    run: (args, ctx) =>
      args.chain
        ? policyOf(
            parseSaved(readFileSync(args.conf_file || rulesFile(args.family, ctx), 'utf8')),
            args.table,
            args.chain,
          )
        : noChain,
  }),
  get_policy: fn({
    doc: 'Policy of a chain.',
    examples: ["salt '*' iptables.get_policy filter INPUT"],
    params: { table, chain, family },
    run: async (args, ctx) =>
      args.chain ? policyOf(parseSaved(await saved(args.family, [], ctx)), args.table, args.chain) : noChain,
  }),
  check: fn({
    doc: 'Whether a rule is active.',
    examples: ["salt '*' iptables.check filter INPUT rule='-m state --state ESTABLISHED -j ACCEPT'"],
    params: { table, chain, rule, family },
    run(args, ctx) {
      if (!args.chain) return noChain;
      return args.rule ? check(args.table, args.chain, args.rule, args.family, ctx) : noRule;
    },
  }),
  check_chain: fn({
    doc: 'Whether a chain exists.',
    examples: ["salt '*' iptables.check_chain filter INPUT"],
    params: { table, chain, family },
    run: async (args, ctx) =>
      args.chain ? (await saved(args.family, ['-t', args.table], ctx)).includes(`:${args.chain} `) : noChain,
  }),
};

const writing = {
  set_policy: fn({
    doc: 'Sets the policy of a chain; empty when it worked.',
    examples: ["salt '*' iptables.set_policy filter INPUT ACCEPT"],
    params: { table, chain, policy: p.string({ default: null, doc: 'ACCEPT or DROP' }), family },
    run(args, ctx) {
      if (!args.chain) return noChain;
      if (!args.policy) return 'Error: Policy needs to be specified';
      return complaint(args.family, ['-t', args.table, '-P', args.chain, args.policy], ctx);
    },
  }),
  save: fn({
    doc: 'Writes the active rules to the file read at boot.',
    examples: ["salt '*' iptables.save /etc/iptables/rules.v4"],
    params: { filename: p.path({ default: null, doc: 'another file' }), family },
    run: (args, ctx) => keep(args.filename, args.family, ctx),
  }),
  new_chain: fn({
    doc: 'Creates a chain.',
    examples: ["salt '*' iptables.new_chain filter OWN"],
    params: { table, chain, family },
    run: async (args, ctx) =>
      args.chain ? (await complaint(args.family, ['-t', args.table, '-N', args.chain], ctx)) || true : noChain,
  }),
  delete_chain: fn({
    doc: 'Removes an empty chain.',
    examples: ["salt '*' iptables.delete_chain filter OWN"],
    params: { table, chain, family },
    run: async (args, ctx) =>
      args.chain ? (await complaint(args.family, ['-t', args.table, '-X', args.chain], ctx)) || true : noChain,
  }),
  append: fn({
    doc: 'Adds a rule at the end of a chain; false when it already exists.',
    examples: ["salt '*' iptables.append filter INPUT rule='-m state --state ESTABLISHED -j ACCEPT'"],
    params: { table, chain, rule, family },
    async run(args, ctx) {
      if (!args.chain) return noChain;
      if (!args.rule) return noRule;
      if (await check(args.table, args.chain, args.rule, args.family, ctx)) return false;
      return !(await complaint(args.family, ['-t', args.table, '-A', args.chain, ...shellSplit(args.rule)], ctx));
    },
  }),
  insert: fn({
    doc: 'Inserts a rule at a position of a chain; empty when it worked, false when it already exists.',
    examples: ["salt '*' iptables.insert filter INPUT position=3 rule='-m state --state ESTABLISHED -j ACCEPT'"],
    params: { table, chain, position: p.int({ default: null, doc: 'position, counted from 1' }), rule, family },
    async run(args, ctx) {
      if (!args.chain) return noChain;
      if (!args.position) return 'Error: Position needs to be specified or use append (-A)';
      if (!args.rule) return noRule;
      const at = await place(args.table, args.chain, args.position, args.family, ctx);
      if (await check(args.table, args.chain, args.rule, args.family, ctx)) return false;
      return complaint(args.family, ['-t', args.table, '-I', args.chain, String(at), ...shellSplit(args.rule)], ctx);
    },
  }),
  delete: fn({
    doc: 'Removes a rule, given in full or by its position.',
    examples: ["salt '*' iptables.delete filter INPUT position=3"],
    params: {
      table: p.string({ doc: 'the table' }),
      chain,
      position: p.int({ default: null, doc: 'position' }),
      rule,
      family,
    },
    run(args, ctx) {
      if (args.position && args.rule) return 'Error: Only specify a position or a rule, not both';
      const which = args.position ? [String(args.position)] : shellSplit(args.rule ?? '');
      return complaint(args.family, ['-t', args.table, '-D', args.chain ?? '', ...which], ctx);
    },
  }),
  flush: fn({
    doc: 'Removes all rules of a chain, or of a whole table.',
    examples: ["salt '*' iptables.flush filter INPUT"],
    params: { table, chain: p.string({ default: '', doc: 'the chain' }), family },
    run: (args, ctx) => complaint(args.family, ['-t', args.table, '-F', ...(args.chain ? [args.chain] : [])], ctx),
  }),
};

export default defineModule({
  name: 'iptables',
  doc: 'Rules, chains and policies of the packet filter.',
  available: () =>
    which('iptables') !== null || 'The iptables execution module cannot be loaded: iptables not installed.',
  reads: [
    'build_rule',
    'version',
    'get_saved_rules',
    'get_rules',
    'get_saved_policy',
    'get_policy',
    'check',
    'check_chain',
  ],
  functions: { build_rule: buildRule, ...reading, ...writing },
});
