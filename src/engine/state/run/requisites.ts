// Evaluates the requisites of a state.
import { isTruthy } from '../../../base/codec/python/index.ts';
import type { PlainDict, Value } from '../../../base/codec/value.ts';
import { matchesGlob } from '../../../base/util/index.ts';
import type { Chunk } from '../data.ts';
import { type Requisite, type RequisiteIndex, readRequisite, requisiteEntries } from './requisite-index.ts';

/** `unmet`: a required state has not run yet. The others determine what happens with the state. */
export type RequisiteStatus = 'met' | 'unmet' | 'fail' | 'pre' | 'onfail' | 'onchanges' | 'change';

/** Requisite lists of a chunk, in the order in which Salt evaluates them. */
const requisiteLists = [
  'require',
  'require_any',
  'watch',
  'watch_any',
  'prereq',
  'onfail',
  'onfail_any',
  'onfail_all',
  'onchanges',
  'onchanges_any',
] as const;

export interface RequisiteView {
  readonly index: RequisiteIndex;
  readonly tags: readonly string[];
  readonly running: Readonly<Record<string, PlainDict>>;
  /** Results of test runs for a `prereq`. */
  readonly pre: Readonly<Record<string, PlainDict>>;
  /** SLS files that were rendered, those without states too. */
  readonly processed: ReadonlySet<string>;
  readonly disabled: ReadonlySet<string>;
  /** The end of a parallel state that is still running. */
  atWork(tag: string): Promise<void> | undefined;
}

/** Requisite → positions of the chunks it means. */
export type ResolvedRequisites = Map<string, readonly number[]>;

export interface RequisiteVerdict {
  readonly status: RequisiteStatus;
  readonly resolved: ResolvedRequisites;
}

const nothing: RequisiteVerdict = { status: 'met', resolved: new Map() };
const notYet: RequisiteVerdict = { status: 'unmet', resolved: new Map() };

function hasRequisites(low: Chunk): boolean {
  return 'prerequired' in low || requisiteLists.some((name) => name in low);
}

/** Evaluates a chunk. `pre` is set outside of the test run for a `prereq`: then `prerequired` counts too. */
export async function judgeRequisites(view: RequisiteView, low: Chunk, pre: boolean): Promise<RequisiteVerdict> {
  if (!hasRequisites(low)) return nothing;
  const resolved: ResolvedRequisites = new Map();
  for (const name of pre ? [...requisiteLists, 'prerequired'] : requisiteLists) {
    if ((low[name] ?? null) === null || view.disabled.has(name)) continue;
    const found = resolve(view, requisiteEntries(low[name]));
    if (!found) return notYet;
    resolved.set(name, found);
  }
  const marks = new Set<Mark>();
  for (const [name, positions] of resolved) {
    for (const at of positions) {
      const work = view.atWork(view.tags[at]!);
      if (work) await work;
    }
    for (const mark of marksOf(view, name, positions)) marks.add(mark);
  }
  return { status: statusOf(marks), resolved };
}

/** All chunks of the list; undefined when an entry has none. */
function resolve(view: RequisiteView, list: readonly Value[]): readonly number[] | undefined {
  const found: number[] = [];
  for (const entry of list) {
    const requisite = readRequisite(entry);
    if (requisite.value === null) continue;
    const positions = view.index.find(requisite);
    if (positions.length === 0 && !isProcessed(view, requisite)) return undefined;
    for (const at of positions) found.push(at);
  }
  return found;
}

/** An SLS without states still exists. */
export function isProcessed({ processed }: Pick<RequisiteView, 'processed'>, { key, value }: Requisite): boolean {
  if (key !== 'sls' || typeof value !== 'string') return false;
  if (processed.has(value)) return true;
  for (const sls of processed) if (matchesGlob(sls, value)) return true;
  return false;
}

type Mark = 'unmet' | 'onfail' | 'fail' | 'onchanges' | 'onchangesmet' | 'change' | 'premet' | 'pre' | 'met';

function marksOf(view: RequisiteView, name: string, positions: readonly number[]): Set<Mark> {
  const results = name === 'prereq' ? view.pre : view.running;
  const marks = new Set<Mark>();
  for (const at of positions) {
    const result = results[view.tags[at]!];
    for (const mark of result === undefined ? (['unmet'] as const) : marksOfResult(name, result)) marks.add(mark);
  }
  if (name.endsWith('_any') || name === 'onfail') forgive(marks);
  // All must have failed: one success prevents `onfail`.
  if (name.endsWith('_all') && marks.has('onfail')) marks.delete('met');
  return marks;
}

function marksOfResult(name: string, result: PlainDict): Mark[] {
  const changed = isChanged(result);
  if (name.startsWith('onfail')) {
    if (result['result'] === true) return ['onfail'];
  } else if (result['result'] === false) return ['fail'];
  if (name.startsWith('onchanges')) return [changed ? 'onchangesmet' : 'onchanges'];
  if (name.startsWith('watch') && changed) return ['change'];
  if (name === 'prereq')
    return [result['result'] === null ? 'premet' : 'pre', ...metIf(result, result['result'] === null)];
  // As in Salt: a prerequired state counts as met only while its result is open.
  if (name === 'prerequired') return metIf(result, result['result'] === null);
  return metIf(result, true);
}

const metIf = (result: PlainDict, condition: boolean): Mark[] =>
  condition && isTruthy(result['__state_ran__'] ?? true) ? ['met'] : [];

export function isChanged(result: PlainDict): boolean {
  const changes = result['changes'] ?? null;
  return isTruthy(changes);
}

/** With `_any` one met requisite is enough. */
function forgive(marks: Set<Mark>): void {
  if (marks.has('met') || marks.has('change')) marks.delete('fail');
  if (marks.has('onchangesmet')) {
    marks.delete('onchanges');
    marks.delete('fail');
  }
  if (marks.has('met')) marks.delete('onfail');
}

function statusOf(marks: ReadonlySet<Mark>): RequisiteStatus {
  if (marks.has('unmet')) return 'unmet';
  if (marks.has('fail')) return 'fail';
  if (marks.has('pre')) return marks.has('premet') ? 'met' : 'pre';
  if (marks.has('onfail') && !marks.has('onchangesmet')) return 'onfail';
  if (marks.has('onchanges') && !marks.has('onchangesmet')) return 'onchanges';
  if (marks.has('change')) return 'change';
  return marks.has('onfail') ? 'onfail' : 'met';
}
