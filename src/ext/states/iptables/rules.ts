// `iptables.append`, `insert` and `delete`: a rule, or several at once.
import {
  isDict,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';

type Verb = 'append' | 'insert' | 'delete';

interface Asked {
  readonly name: string;
  readonly table: string;
  readonly family: string;
  /** Parts of the rule, with `chain`, `save` and `position`. */
  readonly parts: PlainDict;
}

const letters: Readonly<Record<Verb, string>> = { append: 'A', insert: 'I', delete: 'D' };

/** The rule, and the command that would set it, as comments show it. */
async function texts(verb: Verb, asked: Asked, ctx: StateContext): Promise<{ rule: string; command: string }> {
  const kwargs = newDict([
    ['family', asked.family],
    ...Object.entries(asked.parts),
    ['name', asked.name],
    ['table', asked.table],
  ]);
  const rule = pyStr(await ctx.callWith('iptables.build_rule', [], kwargs));
  const full = newDict([
    ...Object.entries(kwargs),
    ['full', verb === 'append' ? 'True' : true],
    ['command', letters[verb]],
  ]);
  return { rule, command: pyStr(await ctx.callWith('iptables.build_rule', [], full)).trim() };
}

const saveTo = (save: Value | undefined): Value => (save === true ? null : (save ?? null));

async function save(asked: Asked, ctx: StateContext): Promise<string> {
  const kwargs = { filename: saveTo(asked.parts['save']), family: asked.family };
  return pyStr(await ctx.callWith('iptables.save', [], newDict(Object.entries(kwargs))));
}

/** The rules of all chains, for comparison. */
function rulesOf(tables: Value): string {
  const chains = Object.values(textKeyed(tables)).flatMap((table) =>
    isDict(table) ? Object.values(textKeyed(table)) : [],
  );
  return JSON.stringify(chains.map((chain) => textKeyed(chain)['rules'] ?? null));
}

/** Saves the rules if the file does not have them; returns the addition to the comment. */
async function saveWhenDifferent(asked: Asked, command: string, ctx: StateContext): Promise<string> {
  const { parts, family, name } = asked;
  // The saved file is not reported under test.
  if (!parts['save'] || ctx.test) return '';
  const kwargs = newDict(Object.entries({ conf_file: saveTo(parts['save']), family }));
  const kept = await ctx.callWith('iptables.get_saved_rules', [], kwargs).catch(() => newDict());
  const now = await ctx.callWith('iptables.get_rules', [], newDict([['family', family]]));
  if (rulesOf(kept) === rulesOf(now)) return '';
  return `\nSaved iptables rule ${name} for ${family}\n${command}\n${await save(asked, ctx)}`;
}

/** `(command) for family` after append, `for family (command)` after the others. */
const about = (verb: Verb, command: string, family: string): string =>
  verb === 'append' ? `(${command}) for ${family}` : `for ${family} (${command})`;

async function carryOut(verb: Verb, asked: Asked, rule: string, ctx: StateContext): Promise<boolean> {
  const { table, family, parts } = asked;
  const chain = parts['chain'] ?? null;
  if (verb === 'append') return Boolean(await ctx.call('iptables.append', table, chain, rule, family));
  if (verb === 'insert')
    return !(await ctx.call('iptables.insert', table, chain, parts['position'] ?? null, rule, family));
  const which = 'position' in parts ? { position: parts['position'] as Value } : { rule };
  return !(await ctx.callWith('iptables.delete', [table, chain], newDict(Object.entries({ family, ...which }))));
}

async function one(verb: Verb, asked: Asked, ctx: StateContext): Promise<StateResult> {
  const { name, table, family, parts } = asked;
  const { rule, command } = await texts(verb, asked, ctx);
  const there = (await ctx.call('iptables.check', table, parts['chain'] ?? null, rule, family)) === true;
  if (verb === 'delete' ? !there && !('position' in parts) : there) {
    const comment = `iptables rule for ${name} already ${verb === 'delete' ? 'absent' : 'set'} ${about(verb, command, family)}`;
    return ctx.ok(verb === 'delete' ? comment : `${comment}${await saveWhenDifferent(asked, command, ctx)}`);
  }
  return ctx.change(newDict([['locale', name]]), '', {
    test: `iptables rule for ${name} needs to be ${verb === 'delete' ? 'deleted' : 'set'} ${about(verb, command, family)}`,
    testChanges: newDict(),
    async apply() {
      if (!(await carryOut(verb, asked, rule, ctx))) {
        const done = verb === 'delete' ? 'delete' : 'set';
        const attempted = `Failed to ${done} iptables rule for ${name}.\nAttempted rule was ${command}`;
        return ctx.fail(verb === 'append' ? `${attempted} for ${family}` : attempted);
      }
      const changes = newDict([['locale', name]]);
      if (parts['save']) {
        const done = verb === 'delete' ? 'Deleted' : 'Set';
        const said = await save(asked, ctx);
        return ctx.ok(`${done} and saved iptables rule ${name} for ${family}\n${command}\n${said}`, { changes });
      }
      return ctx.ok(
        verb === 'delete'
          ? `Delete iptables rule for ${name} ${command}`
          : `Set iptables rule for ${name} to: ${command} for ${family}`,
        { changes },
      );
    },
  });
}

/** Keys of a chunk that are not part of its rule: keys of every state, and of this state function. */
const outer =
  `name table family rules fun order state save aggregate check_cmd cmd_opts_exclude creates failhard fire_event listen
  listen_in onchanges onchanges_any onchanges_in onfail onfail_all onfail_any onfail_in onfail_stop onlyif parallel
  prereq prereq_in prerequired reload_grains reload_modules reload_pillar require require_any require_in retry runas
  runas_password saltenv umask unless use use_in watch watch_any watch_in`.split(/\s+/);

/** Several rules; saved once at the end. */
async function several(verb: Verb, rules: readonly Value[], family: string, ctx: StateContext): Promise<StateResult> {
  const comments: string[] = [];
  const locale: Value[] = [];
  const results: (boolean | null)[] = [];
  let keep: Value = false;
  for (const item of rules) {
    const given = textKeyed(item);
    if (given['save']) keep = given['save'];
    const parts = newDict(Object.entries(given).filter(([key]) => !outer.includes(key) && !key.startsWith('__')));
    const asked = {
      name: pyStr(given['name'] ?? ''),
      table: pyStr(given['table'] ?? 'filter'),
      family: pyStr(given['family'] ?? 'ipv4'),
      parts,
    };
    const done = await one(verb, asked, ctx);
    const changed = textKeyed(done.changes)['locale'];
    if (changed !== undefined) locale.push(changed);
    comments.push(pyStr(done.comment as Value));
    results.push(done.result);
  }
  // The saved file is not reported under test.
  if (keep && !ctx.test)
    await ctx.callWith('iptables.save', [], newDict(Object.entries({ filename: saveTo(keep), family })));
  const changes = locale.length > 0 ? newDict([['locale', locale]]) : newDict();
  // A later success must not hide a failure.
  const result = results.includes(false) ? false : results.includes(null) ? null : true;
  return ctx.result({ result, comment: comments.join('\n'), changes });
}

const docs: Readonly<Record<Verb, string>> = {
  append: 'A rule at the end of a chain.',
  insert: 'A rule at a place of a chain.',
  delete: 'A rule that shall not be there.',
};

export const ruleState = (verb: Verb) =>
  state({
    doc: docs[verb],
    examples: [
      `ssh:\n  iptables.${verb}:\n    - chain: INPUT\n    - proto: tcp\n    - dport: 22\n    - jump: ACCEPT${verb === 'insert' ? '\n    - position: 1' : ''}`,
    ],
    params: {
      name: p.string({ doc: 'any name' }),
      table: p.string({ default: 'filter', doc: 'the table' }),
      family: p.string({ default: 'ipv4', doc: 'ipv4 or ipv6' }),
      kwargs: p.kwargs({ doc: 'chain, save, position, and the parts of the rule: proto, dport, jump, comment, …' }),
    },
    async run({ name, table, family, kwargs }, ctx) {
      const rules = kwargs['rules'];
      if (Array.isArray(rules)) return several(verb, rules, family, ctx);
      const parts = newDict(Object.entries(kwargs).filter(([key]) => key !== '__agg__'));
      return one(verb, { name, table, family, parts }, ctx);
    },
  });
