// Results of state runs: what each state did on each minion, and which differences are the same.
import type { AnswerRow } from '../api/jobs.ts';
import { fieldsOf, isFields, numberOf, textOf } from '../api/read.ts';

export type StateMark = 'ok' | 'changed' | 'failed' | 'planned' | 'skipped';

export interface StateResult {
  readonly mark: StateMark;
  readonly comment: string;
  /** The difference as text; empty without one. */
  readonly diff: string;
}

export interface StateRow {
  readonly key: string;
  readonly id: string;
  readonly fun: string;
  readonly name: string;
  readonly sls: string;
  readonly order: number;
  readonly byMinion: ReadonlyMap<string, StateResult>;
}

const separator = '_|-';

function markOf(result: unknown, changed: boolean, comment: string): StateMark {
  if (result === null || result === undefined) return 'planned';
  if (result !== true) return 'failed';
  if (changed) return 'changed';
  return /requirement|skipped|onlyif|unless/i.test(comment) ? 'skipped' : 'ok';
}

function diffOf(changes: unknown): string {
  if (!isFields(changes) || Object.keys(changes).length === 0) return '';
  return typeof changes['diff'] === 'string' ? changes['diff'] : JSON.stringify(changes, null, 2);
}

/** States in the order of the run; answers that are no state run are left out. */
export function stateRows(rows: readonly AnswerRow[]): readonly StateRow[] {
  const found = new Map<string, OpenRow>();
  for (const { id, answer } of rows) {
    for (const [key, value] of Object.entries(fieldsOf(answer))) {
      const parts = key.split(separator);
      if (parts.length !== 4 || !isFields(value)) continue;
      const known = rowFor(found, parts, id, value);
      const comment = textOf(value['comment']);
      const diff = diffOf(value['changes']);
      known.byMinion.set(id, { mark: markOf(value['result'], diff !== '', comment), comment, diff });
    }
  }
  return [...found.values()].map(({ row }) => row).sort((a, b) => a.order - b.order);
}

interface OpenRow {
  readonly row: StateRow;
  readonly byMinion: Map<string, StateResult>;
}

/** Names may differ between minions: what is the same state has the same function and id. */
function rowFor(
  found: Map<string, OpenRow>,
  [module = '', id = '', name = '', fun = '']: readonly string[],
  minion: string,
  value: Readonly<Record<string, unknown>>,
): OpenRow {
  for (let at = 0; ; at++) {
    const key = `${module}.${fun} ${id} ${at}`;
    const known = found.get(key);
    // A state with several names has several rows.
    if (known?.byMinion.has(minion)) continue;
    const row = known ?? newRow(key, [module, id, name, fun], value);
    found.set(key, row);
    return row;
  }
}

function newRow(key: string, parts: readonly string[], value: Readonly<Record<string, unknown>>) {
  const byMinion = new Map<string, StateResult>();
  const [module = '', id = '', name = '', fun = ''] = parts;
  const order = numberOf(value['__run_num__']) ?? 0;
  const row: StateRow = {
    ...{ key, id, name, order, byMinion },
    fun: `${module}.${fun}`,
    sls: textOf(value['__sls__']),
  };
  return { row, byMinion };
}

export interface DiffGroup {
  readonly text: string;
  readonly mark: StateMark;
  readonly minions: readonly string[];
}

/** Equal differences of one state folded into one, the largest first: the union over all minions. */
export function diffGroups({ byMinion }: StateRow): readonly DiffGroup[] {
  const groups = new Map<string, { text: string; mark: StateMark; minions: string[] }>();
  for (const [id, { mark, comment, diff }] of byMinion) {
    if (mark === 'ok' || mark === 'skipped') continue;
    const text = diff === '' ? comment : diff;
    const key = `${mark} ${text}`;
    const group = groups.get(key) ?? { text, mark, minions: [] };
    group.minions.push(id);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.minions.length - a.minions.length);
}
