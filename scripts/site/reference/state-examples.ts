// Examples of states: cases that the tests run (`cases.yaml` beside each state module), written as an operator writes them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDict, newDict, type PlainDict, type Value } from '../../../src/base/codec/value.ts';
import { dumpYaml, loadYaml } from '../../../src/base/codec/yaml/index.ts';
import { readCases, type StateCase } from '../../../src/testing/cases.ts';

export interface StateExample {
  readonly about: string;
  /** A state file. */
  readonly sls: string;
  /** What the state says when it is applied. */
  readonly comment: string;
  readonly source: StateCase;
}

/** Stands for the folder of a case. */
export const exampleFolder = '/srv/example';
const longestSls = 900;
const perFunction = 2;

/** Text inside any value. */
export function replaced<T extends Value>(value: T, from: string, to: string): T {
  const change = (each: Value): Value => {
    if (typeof each === 'string') return each.replaceAll(from, to);
    if (Array.isArray(each)) return each.map(change);
    if (isDict(each) && !(each instanceof Map))
      return newDict(Object.entries(each).map(([key, item]) => [key, change(item as Value)]));
    return each;
  };
  return change(value) as T;
}

/** The state file that makes this call. */
export function slsOf({ state, args }: StateCase): string {
  const shown = replaced(newDict(Object.entries(args)), '{tmp}', exampleFolder);
  const list = Object.entries(shown).map(([name, value]) => newDict([[name, value as Value]]));
  const declaration = newDict([['example', newDict([[state, list]])]]);
  const [id, fun, ...rest] = dumpYaml(declaration, { flow: false }).trimEnd().split('\n');
  // As state files are mostly written: the list stands further to the right than the function.
  return [id, fun, ...rest.map((line) => (line === '' ? line : `  ${line}`))].join('\n');
}

/** The function and arguments that a shown state file means. */
export function readSls(sls: string): { state: string; args: PlainDict } {
  const declared = (loadYaml(sls) as PlainDict)['example'] as PlainDict;
  const [state = '', list] = Object.entries(declared)[0] ?? [];
  const args = newDict((list as PlainDict[]).flatMap((each) => Object.entries(each) as [string, Value][]));
  return { state, args: replaced(args, exampleFolder, '{tmp}') };
}

/** Simple ones first: those that succeed, with few arguments, and without anything around them. */
function isShowable({ apply, ours, args, pillar, lowstate }: StateCase): boolean {
  if (!apply || ours || pillar || lowstate || apply.result !== true || typeof apply.comment !== 'string') return false;
  const text = JSON.stringify(args) ?? '';
  return !text.includes('{tmp}/roots') && !/[\u0000-\u0008\ufffd]/.test(text) && 'name' in args;
}

export function stateExamples(root: string, module: string): ReadonlyMap<string, readonly StateExample[]> {
  const file = join(root, 'src/ext/states', module, 'cases.yaml');
  const found = new Map<string, StateExample[]>();
  if (!existsSync(file)) return found;
  for (const row of readCases(file).filter(isShowable)) {
    const known = found.get(row.state) ?? [];
    if (known.length >= perFunction) continue;
    const sls = slsOf(row);
    if (sls.length > longestSls || JSON.stringify(readSls(sls).args) !== JSON.stringify(row.args)) continue;
    const comment = String(row.apply ? row.apply.comment : '').replaceAll('{tmp}', exampleFolder);
    found.set(row.state, [...known, { about: row.it, sls, comment, source: row }]);
  }
  return found;
}
