// Execution module `nftables`: tables, chains and rules of the packet filter.
import { defineModule, fn, newDict, type PlainDict, p, pyStr } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { words } from 'halite/sdk/text';
import { familyOf, handleOf, ruleText } from './rule.ts';
import {
  addRule,
  chainInfo,
  chainThere,
  deleteRule,
  keep,
  listing,
  missing,
  nft,
  rulesJson,
  ruleThere,
  tableNames,
  tableTexts,
  tableThere,
  verdict,
} from './tool.ts';

const family = p.string({ default: 'ipv4', doc: 'ipv4, ipv6, inet, arp, bridge or netdev' });
const table = p.string({ default: 'filter', doc: 'the table' });
const chain = p.string({ default: '', doc: 'the chain' });
const rule = p.string({ default: '', doc: 'the rule' });

const reading = {
  version: fn({
    doc: 'Version of the tool.',
    examples: ["salt '*' nftables.version"],
    run: async (_, ctx) => words(await nft(ctx, ['--version']))[1] ?? '',
  }),
  build_rule: fn({
    doc: 'Builds the text of a rule from its parts; with `full` the whole command.',
    examples: [
      "salt '*' nftables.build_rule filter input command=insert position=3 full=True connstate=related jump=accept",
    ],
    params: {
      table: p.string({ default: null, doc: 'the table' }),
      chain: p.string({ default: null, doc: 'the chain' }),
      command: p.string({ default: null, doc: 'add or insert' }),
      position: p.string({ default: '', falsy: null, doc: 'handle of the rule before which it is inserted' }),
      full: p.oneOf(['bool', 'string'], { default: null, doc: 'the whole command' }),
      family,
      kwargs: p.kwargs({ doc: 'parts of the rule: proto, dport, jump, …' }),
    },
    run({ table, chain, command, position, full, family, kwargs }) {
      const text = ruleText(family, kwargs);
      const answer = (rule: string, comment = 'Successfully built rule', result = true): PlainDict =>
        newDict(Object.entries({ comment, rule, result }));
      if (!(full === true || pyStr(full).toLowerCase() === 'true')) return answer(text, text ? undefined : '');
      if (!table) return answer(text, 'Table needs to be specified', false);
      if (!chain) return answer(text, 'Chain needs to be specified', false);
      if (!command) return answer(text, 'Command needs to be specified', false);
      const at = command.toLowerCase() === 'insert' && position ? ` position ${position}` : '';
      const verb = command.toLowerCase() === 'insert' ? 'insert' : command;
      return answer(`nft ${verb} rule ${familyOf(family)} ${table} ${chain}${at} ${text}`);
    },
  }),
  get_saved_rules: fn({
    doc: 'Lines of the file read at boot.',
    examples: ["salt '*' nftables.get_saved_rules"],
    params: { conf_file: p.path({ default: null, doc: 'another file' }) },
    run: (args) =>
      (readText(args.conf_file || '/etc/nftables') ?? '')
        .split(/(?<=\n)/)
        .filter((line) => line.trim() !== '' && !line.trim().startsWith('#')),
  }),
  list_tables: fn({
    doc: 'Tables of a family.',
    examples: ["salt '*' nftables.list_tables"],
    params: { family },
    run: (args, ctx) => tableNames(args.family, ctx),
  }),
  get_rules: fn({
    doc: 'Active rules, one text per table.',
    examples: ["salt '*' nftables.get_rules"],
    params: { family },
    run: (args, ctx) => tableTexts(args.family, ctx),
  }),
  get_rules_json: fn({
    doc: 'Active rules as data.',
    examples: ["salt '*' nftables.get_rules_json"],
    params: { family },
    run: (args, ctx) => rulesJson(args.family, ctx),
  }),
  get_rule_handle: fn({
    doc: 'The handle of a rule.',
    examples: ["salt '*' nftables.get_rule_handle filter input rule='tcp dport 22 accept'"],
    params: { table, chain, rule, family },
    async run(args, ctx) {
      const found = await ruleThere(args, args.rule, ctx);
      if (!found['result']) return found;
      return newDict(Object.entries({ result: true, handle: handleOf(await listing(args, ctx), args.rule) ?? '' }));
    },
  }),
  check: fn({
    doc: 'Whether a rule is active.',
    examples: ["salt '*' nftables.check filter input rule='tcp dport 22 accept'"],
    params: { table, chain, rule, family },
    run: (args, ctx) => ruleThere(args, args.rule, ctx),
  }),
  check_chain: fn({
    doc: 'Whether a chain exists.',
    examples: ["salt '*' nftables.check_chain filter input"],
    params: { table, chain, family },
    run: (args, ctx) => chainThere(args, ctx),
  }),
  check_table: fn({
    doc: 'Whether a table exists.',
    examples: ["salt '*' nftables.check_table nat"],
    params: { table: p.string({ default: '', doc: 'the table' }), family },
    run: (args, ctx) => tableThere(args.table, args.family, ctx),
  }),
  get_policy: fn({
    doc: 'Policy of a chain.',
    examples: ["salt '*' nftables.get_policy filter input"],
    params: { table, chain, family },
    run: async (args, ctx) =>
      args.chain ? ((await chainInfo(args, ctx))?.['policy'] ?? null) : 'Error: Chain needs to be specified',
  }),
};

const tables = {
  new_table: fn({
    doc: 'Creates a table.',
    examples: ["salt '*' nftables.new_table filter"],
    params: { table: p.string({ doc: 'the table' }), family },
    async run(args, ctx) {
      const there = await tableThere(args.table, args.family, ctx);
      if (there['result'] || !args.table) return there;
      const failed = await nft(ctx, ['add', 'table', familyOf(args.family), args.table]);
      return failed
        ? verdict(false, `Table ${args.table} in family ${args.family} could not be created`)
        : verdict(true, `Table ${args.table} in family ${args.family} created`);
    },
  }),
  delete_table: fn({
    doc: 'Removes a table.',
    examples: ["salt '*' nftables.delete_table filter"],
    params: { table: p.string({ doc: 'the table' }), family },
    async run(args, ctx) {
      const there = await tableThere(args.table, args.family, ctx);
      if (!there['result']) return there;
      const failed = await nft(ctx, ['delete', 'table', familyOf(args.family), args.table]);
      return failed
        ? verdict(false, `Table ${args.table} in family ${args.family} could not be deleted`)
        : verdict(true, `Table ${args.table} in family ${args.family} deleted`);
    },
  }),
};

const chains = {
  new_chain: fn({
    doc: 'Creates a chain.',
    examples: ["salt '*' nftables.new_chain filter input table_type=filter hook=input priority=0"],
    params: {
      table,
      chain,
      table_type: p.string({ default: null, doc: 'filter, route or nat' }),
      hook: p.string({ default: null, doc: 'the hook' }),
      priority: p.string({ default: null, doc: 'priority among chains of the hook' }),
      family,
    },
    async run({ table, chain, table_type: type, hook, priority, family }, ctx) {
      if (!chain) return verdict(false, 'Chain needs to be specified');
      const there = await tableThere(table, family, ctx);
      if (!there['result']) return there;
      const place = `Chain ${chain} in table ${table} in family ${family}`;
      if ((await chainThere({ table, chain, family }, ctx))['result']) return verdict(false, `${place} already exists`);
      if ((type || hook || priority) && !(type && hook && priority !== null))
        return verdict(false, 'Table_type, hook, and priority required.');
      const base = type ? ['{', 'type', type, 'hook', hook ?? '', 'priority', `${pyStr(priority)};`, '}'] : [];
      return (await nft(ctx, ['--', 'add', 'chain', familyOf(family), table, chain, ...base]))
        ? verdict(false, `${place} could not be created`)
        : verdict(true, `${place} created`);
    },
  }),
  delete_chain: fn({
    doc: 'Removes an empty chain.',
    examples: ["salt '*' nftables.delete_chain filter input"],
    params: { table, chain, family },
    async run(args, ctx) {
      const gap = await missing(args, ctx);
      if (gap) return gap;
      const place = `Chain ${args.chain} in table ${args.table} in family ${args.family}`;
      return (await nft(ctx, ['delete', 'chain', familyOf(args.family), args.table, args.chain]))
        ? verdict(false, `${place} could not be deleted`)
        : verdict(true, `${place} deleted`);
    },
  }),
  flush: fn({
    doc: 'Removes all rules of a chain, or of a whole table.',
    examples: ["salt '*' nftables.flush filter input"],
    params: { table, chain, family },
    async run({ table, chain, family }, ctx) {
      const gap = chain
        ? await missing({ table, chain, family }, ctx)
        : await tableThere(table, family, ctx).then((found) => (found['result'] ? undefined : found));
      if (gap) return gap;
      const from = chain ? `from chain ${chain} in table ${table}` : `from table ${table}`;
      const args = chain ? ['chain', familyOf(family), table, chain] : ['table', familyOf(family), table];
      return (await nft(ctx, ['flush', ...args]))
        ? verdict(false, `Failed to flush rules ${from} in family ${family}.`)
        : verdict(true, `Flushed rules ${from} in family ${family}.`);
    },
  }),
  set_policy: fn({
    doc: 'Sets the policy of a chain.',
    examples: ["salt '*' nftables.set_policy filter input accept"],
    params: { table, chain, policy: p.string({ default: '', doc: 'accept or drop' }), family },
    async run({ table, chain, policy, family }, ctx) {
      if (!chain) return 'Error: Chain needs to be specified';
      if (!policy) return 'Error: Policy needs to be specified';
      const info = await chainInfo({ table, chain, family }, ctx);
      if (!info) return false;
      const text = (key: string): string => pyStr(info[key] ?? '');
      const base = [
        '{',
        'type',
        text('type'),
        'hook',
        text('hook'),
        'priority',
        `${text('prio')};`,
        'policy',
        `${policy};`,
        '}',
      ];
      return !(await nft(ctx, ['--', 'add', 'chain', familyOf(family), table, chain, ...base]));
    },
  }),
};

const rules = {
  append: fn({
    doc: 'Adds a rule at the end of a chain.',
    examples: ["salt '*' nftables.append filter input rule='tcp dport 22 accept'"],
    params: { table, chain, rule, family },
    run: (args, ctx) => addRule(args, args.rule, ['add'], ctx),
  }),
  insert: fn({
    doc: 'Inserts a rule at the beginning of a chain, or before another rule.',
    examples: ["salt '*' nftables.insert filter input rule='tcp dport 22 accept'"],
    params: {
      table,
      chain,
      position: p.string({ default: null, falsy: null, doc: 'handle of that rule' }),
      rule,
      family,
    },
    run: (args, ctx) =>
      addRule(args, args.rule, ['insert', ...(args.position ? ['position', args.position] : [])], ctx),
  }),
  delete: fn({
    doc: 'Removes a rule, given in full or by its handle.',
    examples: ["salt '*' nftables.delete filter input rule='tcp dport 22 accept'"],
    params: {
      table: p.string({ doc: 'the table' }),
      chain,
      position: p.string({ default: null, falsy: null, doc: 'handle' }),
      rule,
      family,
    },
    run: (args, ctx) => deleteRule(args, args.rule, args.position ? args.position : '', ctx),
  }),
  save: fn({
    doc: 'Writes all active rules to the file read at boot.',
    examples: ["salt '*' nftables.save /etc/nftables"],
    params: { filename: p.path({ default: null, doc: 'another file' }), family },
    run: (args, ctx) => keep(args.filename, ctx),
  }),
};

export default defineModule({
  name: 'nftables',
  doc: 'Tables, chains and rules of the packet filter.',
  available: () => which('nft') !== null || 'The nftables execution module failed to load: nftables is not installed.',
  reads: [
    'version',
    'build_rule',
    'get_saved_rules',
    'list_tables',
    'get_rules',
    'get_rules_json',
    'get_rule_handle',
    'check',
    'check_chain',
    'check_table',
    'get_policy',
  ],
  functions: { ...reading, ...tables, ...chains, ...rules },
});
