// A slow and obvious model of what users of external authentication may do, for the walk that compares the master with
// it. Expressions are not computed: tables say by hand what each of them means.
import type { Value } from '../../src/base/codec/value.ts';

type Know = 'yes' | 'no' | 'unknown';
export const minionIds = ['m1', 'm2', 'm3'] as const;
/** For m1 (role web, class gold), m2, and m3, which has a key and was never connected. */
type Reach = readonly [m1: Know, m2: Know, m3: Know];

/** Expressions of functions, and those of `functions` that they permit. */
const functionRules: Record<string, readonly string[]> = {
  'test.ping': ['test.ping'],
  'test.echo': ['test.echo'],
  'test.pin': [],
  test: [],
  'test.*': ['test.ping', 'test.echo', 'test.version', 'test.retcode'],
  'test.(ping|echo)': ['test.ping', 'test.echo'],
  '.*': ['test.ping', 'test.echo', 'test.version', 'test.retcode', 'testing.ping', 'cmd.run', 'cmd.run_all'],
  'cmd.run': ['cmd.run'],
  'cmd.run.*': ['cmd.run', 'cmd.run_all'],
  '(unclosed': [],
};
export const functions = functionRules['.*']!;

/** Targets of rules: compound expressions. */
const ruleTargets: Record<string, Reach> = {
  '*': ['yes', 'yes', 'yes'],
  m1: ['yes', 'no', 'no'],
  'm*': ['yes', 'yes', 'yes'],
  'L@m1,m3': ['yes', 'no', 'yes'],
  'E@m[12]': ['yes', 'yes', 'no'],
  'm1 or m2': ['yes', 'yes', 'no'],
  'not m1': ['no', 'yes', 'yes'],
  'G@role:web': ['yes', 'no', 'unknown'],
  'I@class:gold': ['yes', 'no', 'unknown'],
  'N@mine': ['yes', 'no', 'no'],
  nope: ['no', 'no', 'no'],
};

interface AskedTarget {
  readonly tgt: Value;
  readonly tgt_type: string;
  readonly reach: Reach;
  /** What users who may not do everything reach: they compare pillar exactly. */
  readonly exact?: Reach;
}
const askedTargets: readonly AskedTarget[] = [
  { tgt: 'm1', tgt_type: 'glob', reach: ['yes', 'no', 'no'] },
  { tgt: 'm2', tgt_type: 'glob', reach: ['no', 'yes', 'no'] },
  { tgt: '*', tgt_type: 'glob', reach: ['yes', 'yes', 'yes'] },
  { tgt: 'nope*', tgt_type: 'glob', reach: ['no', 'no', 'no'] },
  { tgt: ['m1', 'm2'], tgt_type: 'list', reach: ['yes', 'yes', 'no'] },
  { tgt: ['m1'], tgt_type: 'list', reach: ['yes', 'no', 'no'] },
  { tgt: 'm[12]', tgt_type: 'pcre', reach: ['yes', 'yes', 'no'] },
  { tgt: 'role:web', tgt_type: 'grain', reach: ['yes', 'no', 'unknown'] },
  { tgt: 'm1 and m2', tgt_type: 'compound', reach: ['no', 'no', 'no'] },
  { tgt: 'm1 or m3', tgt_type: 'compound', reach: ['yes', 'no', 'yes'] },
  { tgt: 'mine', tgt_type: 'nodegroup', reach: ['yes', 'no', 'no'] },
  { tgt: 'class:gold', tgt_type: 'pillar', reach: ['yes', 'no', 'unknown'] },
  { tgt: 'class:g*', tgt_type: 'pillar', reach: ['yes', 'no', 'unknown'], exact: ['no', 'no', 'unknown'] },
];

interface Bound {
  readonly args: readonly string[];
  readonly kwargs: Readonly<Record<string, string>>;
}
/** Argument lists, and how the minion binds them. */
const argumentLists: readonly { readonly sent: readonly Value[]; readonly bound: Bound }[] = [
  { sent: [], bound: { args: [], kwargs: {} } },
  { sent: ['ok'], bound: { args: ['ok'], kwargs: {} } },
  { sent: ['okay'], bound: { args: ['okay'], kwargs: {} } },
  { sent: ['x', 'blue'], bound: { args: ['x', 'blue'], kwargs: {} } },
  { sent: ['ok', 'colour=blue'], bound: { args: ['ok'], kwargs: { colour: 'blue' } } },
  { sent: [{ __kwarg__: true, colour: 'blue' }], bound: { args: [], kwargs: { colour: 'blue' } } },
  { sent: ['colour=red'], bound: { args: [], kwargs: { colour: 'red' } } },
];
const limits: readonly { readonly written: Value; readonly met: (bound: Bound) => boolean }[] = [
  { written: { args: ['ok'] }, met: ({ args }) => args[0] === 'ok' },
  { written: { args: [null, 'b.*'] }, met: ({ args }) => args.length >= 2 && args[1]!.startsWith('b') },
  { written: { kwargs: { colour: 'blue' } }, met: ({ kwargs }) => kwargs['colour'] === 'blue' },
  {
    written: { args: ['ok'], kwargs: { colour: null } },
    met: ({ args, kwargs }) => args[0] === 'ok' && 'colour' in kwargs,
  },
  { written: { arguments: ['ok'] }, met: () => false },
  { written: 'ok', met: () => false },
];

/** Runner and wheel functions; most do not exist, which is found out after the rights were asked. */
export const masterFunctions = ['test.arg', 'jobs.nope', 'jobs.other', 'manage.nope', 'key.nope', 'a.b.c', 'jobs'];
const named = (...names: string[]): readonly string[] => names;
/** By kind; what is in neither permits nothing. */
const masterRules: readonly {
  readonly written: Value;
  readonly runner: readonly string[];
  readonly wheel: readonly string[];
}[] = [
  { written: '@runner', runner: named('test.arg', 'jobs.nope', 'jobs.other', 'manage.nope', 'key.nope'), wheel: [] },
  { written: '@wheels', runner: [], wheel: named('test.arg', 'jobs.nope', 'jobs.other', 'manage.nope', 'key.nope') },
  { written: '@jobs', runner: named('jobs.nope', 'jobs.other'), wheel: named('jobs.nope', 'jobs.other') },
  { written: { '@runners': ['jobs.n', 'manage.*'] }, runner: named('manage.nope'), wheel: [] },
  { written: { '@wheel': ['key.nope'] }, runner: [], wheel: named('key.nope') },
  { written: { '@jobs': 'o.*' }, runner: named('jobs.other'), wheel: named('jobs.other') },
  { written: '@nothing', runner: [], wheel: [] },
  { written: '@events', runner: [], wheel: [] },
];

interface Condition {
  readonly written: Value;
  readonly fun: string;
  readonly limit?: (bound: Bound) => boolean;
}
type Rule =
  | { readonly kind: 'everywhere'; readonly written: Value; readonly fun: string }
  | { readonly kind: 'somewhere'; readonly written: Value; readonly target: string; readonly conditions: Condition[] }
  | { readonly kind: 'master'; readonly written: Value; readonly at: number }
  | { readonly kind: 'nonsense'; readonly written: Value };

export interface ModelUser {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** On `publisher_acl_blacklist`. */
  readonly banned: boolean;
}

type Pick = (count: number) => number;
const oneOf = <T>(list: readonly T[], pick: Pick): T => list[pick(list.length)]!;

function drawCondition(pick: Pick): Condition {
  const fun = oneOf(Object.keys(functionRules), pick);
  if (pick(3) > 0) return { written: fun, fun };
  const limit = oneOf(limits, pick);
  return { written: { [fun]: limit.written }, fun, limit: limit.met };
}

function drawRule(pick: Pick): Rule {
  const kind = pick(10);
  if (kind < 3) {
    const fun = oneOf(Object.keys(functionRules), pick);
    return { kind: 'everywhere', written: fun, fun };
  }
  if (kind < 7) {
    const target = oneOf(Object.keys(ruleTargets), pick);
    const conditions = Array.from({ length: 1 + pick(3) }, () => drawCondition(pick));
    return { kind: 'somewhere', written: { [target]: conditions.map(({ written }) => written) }, target, conditions };
  }
  if (kind < 9) {
    const at = pick(masterRules.length);
    return { kind: 'master', written: masterRules[at]!.written, at };
  }
  return { kind: 'nonsense', written: oneOf<Value>([5, null, true, ['test.ping']], pick) };
}

export function drawUsers(count: number, pick: Pick): ModelUser[] {
  return Array.from({ length: count }, (_each, at) => ({
    name: `u${at}`,
    rules: Array.from({ length: pick(4) }, () => drawRule(pick)),
    banned: at % 17 === 5,
  }));
}

export interface ModelRequest {
  readonly verb: 'publish' | 'runner' | 'wheel';
  readonly fun: string | readonly string[];
  readonly arg: readonly Value[];
  readonly bound: readonly Bound[];
  readonly target?: AskedTarget;
  readonly ret?: string;
}

const askable = [...functions, 'saltutil.find_job'];

export function drawRequest(pick: Pick): ModelRequest {
  const lists = (): (typeof argumentLists)[number] => oneOf(argumentLists, pick);
  if (pick(4) === 0) {
    const given = lists();
    const verb = pick(2) === 0 ? ('runner' as const) : ('wheel' as const);
    return { verb, fun: oneOf(masterFunctions, pick), arg: given.sent, bound: [given.bound] };
  }
  const target = oneOf(askedTargets, pick);
  const more = pick(20) === 0 ? { ret: 'local_cache' } : {};
  if (pick(4) > 0) {
    const given = lists();
    return { verb: 'publish', fun: oneOf(askable, pick), arg: given.sent, bound: [given.bound], target, ...more };
  }
  const several = Array.from({ length: 1 + pick(3) }, () => ({ fun: oneOf(askable, pick), given: lists() }));
  return {
    ...{ verb: 'publish', target, ...more },
    fun: several.map(({ fun }) => fun),
    arg: several.map(({ given }) => [...given.sent]),
    bound: several.map(({ given }) => given.bound),
  };
}

const conditionMet = ({ fun, limit }: Condition, asked: string, bound: Bound): boolean =>
  functionRules[fun]!.includes(asked) && (limit === undefined || limit(bound));

const mayEverything = ({ rules }: ModelUser): boolean =>
  rules.some((rule) => rule.kind === 'everywhere' && rule.fun === '.*');

/** Who would get the job: also minions of which the master does not know whether the target means them. */
export function reached(user: ModelUser, { target }: ModelRequest): string[] {
  const reach = mayEverything(user) ? target!.reach : (target!.exact ?? target!.reach);
  return minionIds.filter((_id, at) => reach[at] !== 'no');
}

export function permitted(user: ModelUser, request: ModelRequest): boolean {
  const { verb, fun, bound } = request;
  if (user.banned) return false;
  if (verb !== 'publish')
    return user.rules.some((rule) => rule.kind === 'master' && masterRules[rule.at]![verb].includes(String(fun)));
  if (request.ret !== undefined && !mayEverything(user)) return false;
  const minions = reached(user, request);
  const asked = typeof fun === 'string' ? [fun] : fun;
  return asked.every((each, at) => {
    if (each === 'saltutil.find_job') return true;
    return user.rules.some((rule) => {
      if (rule.kind === 'everywhere') return functionRules[rule.fun]!.includes(each);
      if (rule.kind !== 'somewhere' || minions.length === 0) return false;
      const here = ruleTargets[rule.target]!;
      const inside = minions.every((id) => here[minionIds.indexOf(id as 'm1')] === 'yes');
      return inside && rule.conditions.some((condition) => conditionMet(condition, each, bound[at]!));
    });
  });
}
