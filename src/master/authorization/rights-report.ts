// What the rules of `external_auth` mean here compared with Salt, for administrators who change from it. Salt matches
// the beginning of a name, matches users the wrong way round, and overlooks some forms that its manual describes.
import { pyStr } from '../../base/codec/python/index.ts';
import { dictEntries, dictKeys, dictSize, isDict, type PlainDict } from '../../base/codec/value.ts';
import { matchesIdRule, matchesRule } from '../../base/util/function-rule.ts';
import { listFirst } from '../../base/util/list-first.ts';
import { pyRegex } from '../../base/util/pyregex.ts';
import { blockOf, type Entry, entriesOf } from './external-auth.ts';
import { isBlacklisted } from './publisher-acl.ts';
import { type Condition, type MasterKind, permitsMaster, type Rule, readRules } from './rules.ts';

export interface Difference {
  /** Compared with Salt: these users get less or more, or a rule that has no effect, or a rule worth knowing about. */
  readonly kind: 'less' | 'more' | 'mistake' | 'power';
  /** Module and entry: `pam: fred`. */
  readonly where: string;
  readonly what: string;
}

/** Modules of Salt that nobody can log in with here. */
const absent = new Set(['django', 'keystone', 'yubico']);
/** Functions that act with all power of the master. */
const powerful: Readonly<Record<MasterKind, readonly string[]>> = {
  runners: [
    'salt.cmd',
    'salt.execute',
    'saltutil.wheel',
    'state.orchestrate',
    'state.orch',
    'state.orchestrate_single',
  ],
  wheel: ['config.update_config', 'file_roots.write', 'pillar_roots.write'],
};
const named = 5;

/** Names of functions, to say which ones a rule no longer permits. */
export type FunctionNames = Readonly<Record<'modules' | MasterKind, readonly string[]>>;

export interface ReportSources {
  /** The master's configuration: external_auth, eauth_tokens, sharedsecret, publisher_acl_blacklist. */
  readonly raw: PlainDict;
  readonly functions: FunctionNames;
}

export function compareRights({ raw, functions }: ReportSources): Difference[] {
  const { external_auth: externalAuth, eauth_tokens: eauthTokens } = raw;
  if (!isDict(externalAuth)) return [];
  const found: Difference[] = [];
  for (const [key] of dictEntries(externalAuth)) {
    const module = pyStr(key);
    const block = blockOf(externalAuth, module);
    const say = (kind: Difference['kind'], what: string): void => void found.push({ kind, where: module, what });
    if (!block) say('mistake', 'it is not a map of users, so nobody can log in with it');
    else if (absent.has(module)) say('less', 'this module does not exist here, so nobody can log in with it');
    else for (const entry of entriesOf(block)) found.push(...new EntryReport(module, entry, functions, raw).all());
    if (module === 'sharedsecret' && !raw['sharedsecret'])
      say(
        'less',
        'the option sharedsecret is not set, so nobody can log in; Salt accepts a login without a password then',
      );
  }
  if (eauthTokens !== undefined && eauthTokens !== null && eauthTokens !== 'localfs')
    found.push({
      kind: 'less',
      where: 'eauth_tokens',
      what: 'tokens are stored in another form here: users have to log in again',
    });
  return found;
}

class EntryReport {
  readonly #where: string;
  readonly #entry: Entry;
  readonly #functions: FunctionNames;
  readonly #raw: PlainDict;
  readonly #found: Difference[] = [];

  constructor(module: string, entry: Entry, functions: FunctionNames, raw: PlainDict) {
    this.#where = `${module}: ${entry.kind === 'group' ? `${entry.name}%` : entry.name}`;
    this.#entry = entry;
    this.#functions = functions;
    this.#raw = raw;
  }

  #say(kind: Difference['kind'], what: string): void {
    this.#found.push({ kind, where: this.#where, what });
  }

  all(): Difference[] {
    const { kind, name, rules } = this.#entry;
    if (kind !== 'everybody' && /[\\^$*+?()[\]{}|]/.test(name))
      this.#say('more', 'the name is a pattern, which applies to all users it matches; Salt compares it literally');
    if (kind === 'user' && isBlacklisted(this.#raw['publisher_acl_blacklist'], name, []))
      this.#say('less', 'publisher_acl_blacklist refuses this user; Salt compares it with the user that runs the API');
    if (isDict(rules)) {
      this.#say('more', 'a map directly under a name is a list of rules; Salt reads its keys as functions');
      const names = dictKeys(rules).map(pyStr);
      const lost = names.filter(
        (key) => isExpression(key) && this.#functions.modules.some((fun) => matchesBeginning(key, fun)),
      );
      if (lost.length > 0)
        this.#say(
          'less',
          `${listFirst(lost, named)} means minions, and in Salt functions on every minion: write a list`,
        );
    }
    if (Array.isArray(rules) && rules.some((rule) => isDict(rule) && dictSize(rule) > 1))
      this.#say('more', 'a map of several targets is several rules; Salt ignores it');
    const read = readRules(rules, (problem) => this.#say('mistake', `${problem}: it permits nothing`));
    for (const rule of read) this.#rule(rule);
    return this.#found;
  }

  #rule({ scope, conditions }: Rule): void {
    if (scope === '@events') return;
    const where = scope === undefined ? '' : ` on ${scope}`;
    if (scope?.startsWith('@')) this.#master(scope, conditions);
    if (conditions === 'all') return;
    for (const condition of conditions) {
      this.#names(scope, condition.fun, where);
      // Salt passes no arguments of wheel functions to their limits.
      if (!/^@wheels?$/.test(scope ?? '')) this.#limits(condition, where);
    }
  }

  #master(scope: string, conditions: Rule['conditions']): void {
    if (conditions !== 'all' && /^@wheels?$/.test(scope) && conditions.some(({ limits }) => limits))
      this.#say('more', `limits on arguments work for wheel functions (${scope}); Salt refuses such calls`);
    const rule: Rule = { scope, conditions };
    const may = (kind: MasterKind): boolean => powerful[kind].some((fun) => namesFunction(rule, kind, fun));
    if (may('runners') || may('wheel'))
      this.#say('power', `${scope} permits functions that act as the master itself, as root there`);
  }

  /** Salt matches the beginning of a name. */
  #names(scope: string | undefined, expression: string, where: string): void {
    if (!isExpression(expression)) {
      this.#say('mistake', `${expression}${where} is no valid expression: it permits nothing`);
      return;
    }
    const { all, matches } = this.#candidates(scope);
    const fewer = all.filter((name) => matchesBeginning(expression, name) && !matches(expression, name));
    if (fewer.length > 0)
      this.#say(
        'less',
        `${expression}${where} means whole names, and in Salt also ${listFirst([...new Set(fewer)], named)}: add what is needed`,
      );
  }

  #candidates(scope: string | undefined): { all: readonly string[]; matches: typeof matchesRule } {
    const { modules, runners, wheel } = this.#functions;
    if (!scope?.startsWith('@')) return { all: modules, matches: matchesRule };
    if (/^@runners?$/.test(scope)) return { all: runners, matches: matchesRule };
    if (/^@wheels?$/.test(scope)) return { all: wheel, matches: matchesRule };
    const own = [...runners, ...wheel].filter((name) => name.startsWith(`${scope.slice(1)}.`));
    return { all: own.map((name) => name.slice(scope.length)), matches: matchesIdRule };
  }

  #limits({ fun, limits = [] }: Condition, where: string): void {
    const expressions = limits.flatMap(({ args, kwargs }) => [...args, ...kwargs.map(([, expression]) => expression)]);
    const open = expressions.find((each) => typeof each === 'string' && !/(\.\*|\$|\\Z)$/.test(each));
    if (open !== undefined)
      this.#say('less', `the limit ${pyStr(open)} of ${fun}${where} means the whole argument, in Salt its beginning`);
    else if (limits.some(({ args }) => args.length > 0))
      this.#say('less', `args of ${fun}${where} do not mean arguments written as name=value; in Salt they do`);
    const other = expressions.find((each) => each !== null && typeof each !== 'string');
    if (other !== undefined)
      this.#say('more', `the limit ${pyStr(other)} of ${fun}${where} is compared as a text; Salt refuses every value`);
    if (limits.some(({ kwargs }) => kwargs.length > 0))
      this.#say('more', `kwargs of ${fun}${where} also mean arguments written as name=value; Salt refuses those`);
  }
}

/** Whether a rule names a function, whatever its limits are. */
function namesFunction({ scope, conditions }: Rule, kind: MasterKind, fun: string): boolean {
  const open = conditions === 'all' ? conditions : conditions.map(({ fun: name }) => ({ fun: name }));
  return permitsMaster([{ scope, conditions: open }], kind, { fun, args: [], kwargs: new Map() });
}

function isExpression(text: string): boolean {
  try {
    pyRegex(text);
    return true;
  } catch {
    return false;
  }
}

/** As Salt does, with `re.match`. */
const matchesBeginning = (expression: string, name: string): boolean => pyRegex(expression).test(name);
