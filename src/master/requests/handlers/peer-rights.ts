// `peer` and `peer_run`: which minions may run which functions, on other minions or on the master.
import { dictEntries, isDict, type Value } from '../../../base/codec/value.ts';
import { matchesIdRule, matchesRule } from '../../../base/util/function-rule.ts';

type Grants = (rule: string, fun: string) => boolean;

/** `{id expression: [function expressions]}`. */
function allowed(rules: Value | undefined, id: string, functions: readonly string[], grants: Grants): boolean {
  for (const [expression, wanted] of rules !== undefined && isDict(rules) ? dictEntries(rules) : []) {
    if (!matchesIdRule(String(expression), id) || !Array.isArray(wanted)) continue;
    if (functions.every((fun) => wanted.some((rule) => grants(String(rule), fun)))) return true;
  }
  return false;
}

/** publish.* is never allowed, because jobs could then start jobs endlessly. */
export function mayPublish(rules: Value | undefined, id: string, functions: readonly string[]): boolean {
  return !functions.some((fun) => fun.startsWith('publish.')) && allowed(rules, id, functions, matchesRule);
}

/** Runners that reveal data of other minions or of the master (pillar, mine, secrets, options) or affect everything. */
const powerful = new Set([
  ...['cache', 'config', 'event', 'http', 'mine', 'pillar', 'queue', 'reactor', 'salt', 'sdb', 'state', 'survey'],
  'vault',
]);
const isPowerful = (fun: string): boolean => powerful.has(fun.split('.')[0] ?? '') || fun === 'jobs.query';

/** What replaces the key of the master or takes it out of service is for its operators. */
const neverForMinions = new Set(['master.rotate_keys', 'master.retire', 'cluster.rekey', 'cluster.drill']);

/** The author of `jobs.*` or `.*` usually does not mean these: they are allowed only where they are written in full. */
export function mayRun(rules: Value | undefined, id: string, fun: string): boolean {
  if (neverForMinions.has(fun)) return false;
  return allowed(rules, id, [fun], (rule, name) => (isPowerful(name) ? rule === name : matchesRule(rule, name)));
}
