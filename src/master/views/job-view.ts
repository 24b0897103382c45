// One job: its verdicts, the groups of equal answers, and pages of its results.

import { textField } from '../../base/codec/fields.ts';
import { parseDict } from '../../base/codec/json/index.ts';
import { dictGet, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { jidToMillis } from '../../base/util/jid.ts';
import { funName, type PublishedJob, wireTexts } from '../../protocol/job/job.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { Tracker } from '../tracking/tracker.ts';
import { commandOf } from './command-line.ts';
import { type SeenJob, seenJob, type Viewer } from './job-access.ts';
import { pageValue, readPage, sortOf, sortRows, unknownThing, wordsOf } from './page.ts';
import { balanceOfLetters, isStates, letterOf, storedLetter } from './verdicts.ts';

export interface JobViewParts {
  readonly store: Pick<JobStore, 'query' | 'load' | 'expected' | 'saveVerdicts'>;
  readonly tracker: Pick<Tracker, 'job'>;
}

interface Outcome {
  readonly id: string;
  readonly letter: string;
  readonly retcode: number | null;
  readonly received: number | null;
  readonly size: number;
  readonly group: string;
  readonly reason: string;
}

const followedMs = 3_600_000;
const mostGroups = 200;
const mostNamed = 20;
/** Larger answers are fetched one by one. */
const largestShown = 64 * 1024;
const mostShownBytes = 4 * 1024 * 1024;

/** Written by us: an empty map of changes has no quote behind its brace. */
const changedSql = 'instr(full_ret, \'"changes": {"\') > 0';
const retSql = `SELECT id, retcode, success, received, length(full_ret) AS size, answer_hash(full_ret) AS hash,
  ${changedSql} AS changed FROM ret WHERE jid = ?`;
const verdictSql = "SELECT id, verdict, text, at FROM verdict WHERE jid = ? AND reason <> ''";

/** Pages of the same results follow each other: they are looked up once, unless something has changed. */
const remembered = new Map<string, { readonly at: number; readonly outcomes: Promise<Outcome[]> }>();
const [mostRemembered, rememberMs] = [16, 2_000];

function outcomesOf(parts: JobViewParts, seen: SeenJob): Promise<Outcome[]> {
  const active = parts.tracker.job(seen.job.jid);
  const key = `${seen.job.jid} ${seen.whole} ${active ? JSON.stringify(active.balance()) : ''}`;
  const known = remembered.get(key);
  if (known && Date.now() - known.at < rememberMs) return known.outcomes;
  const outcomes = outcomesNow(parts, seen);
  remembered.delete(key);
  remembered.set(key, { at: Date.now(), outcomes });
  const forget = (): void => {
    if (remembered.get(key)?.outcomes === outcomes) remembered.delete(key);
  };
  outcomes.then((found) => {
    // The result of one is not stored yet.
    if (found.some(({ letter, size }) => size === 0 && 'of'.includes(letter))) forget();
  }, forget);
  const [oldest] = remembered.keys();
  if (remembered.size > mostRemembered && oldest !== undefined) remembered.delete(oldest);
  return outcomes;
}

/** What became of the job on each of its minions, also on those that nobody expected. */
async function outcomesNow(parts: JobViewParts, { job, ids, whole }: SeenJob): Promise<Outcome[]> {
  // Writes are done in order: what was being stored is there afterwards.
  if (parts.tracker.job(job.jid)) await parts.store.saveVerdicts([]);
  const [rets, verdicts] = await Promise.all([
    parts.store.query(retSql, [job.jid]),
    parts.store.query(verdictSql, [job.jid]),
  ]);
  const states = isStates(funName(job.fun));
  const found = new Map<string, Outcome>();
  for (const row of verdicts) {
    const id = String(dictGet(row, 'id'));
    const letter = storedLetter(String(dictGet(row, 'verdict')));
    found.set(id, none(id, letter, String(dictGet(row, 'text'))));
  }
  for (const row of rets) {
    const id = String(dictGet(row, 'id'));
    const ok = Number(dictGet(row, 'retcode')) === 0 && Number(dictGet(row, 'success')) === 1;
    const changed = states && Number(dictGet(row, 'changed')) === 1;
    const before = found.get(id)?.letter;
    found.set(id, {
      ...{ id, reason: '', retcode: Number(dictGet(row, 'retcode')), received: Number(dictGet(row, 'received')) },
      letter: before === 'd' ? 'd' : !ok ? 'f' : changed ? 'c' : 'o',
      ...{ size: Number(dictGet(row, 'size')), group: String(dictGet(row, 'hash')) },
    });
  }
  const active = parts.tracker.job(job.jid);
  for (const [id, verdict] of active?.verdicts() ?? []) {
    if (found.has(id) && verdict.kind !== 'queued') continue;
    found.set(id, none(id, letterOf(verdict), 'reason' in verdict ? verdict.reason.text : ''));
  }
  // A master that was restarted follows the open jobs of the last hour again.
  const open = active !== undefined || Date.now() - (jidToMillis(job.jid) ?? 0) < followedMs ? 'w' : 'm';
  const known = new Set(ids);
  const strangers = whole ? [...found.keys()].filter((id) => !known.has(id)).sort() : [];
  return [...ids, ...strangers].map((id) => found.get(id) ?? none(id, open, ''));
}

const none = (id: string, letter: string, reason: string): Outcome => ({
  ...{
    id,
    letter,
    reason,
    retcode: null,
    received: null,
    size: 0,
    group: reason === '' ? `-${letter}` : `-${letter}${reason}`,
  },
});

/** `fresh`: not even what was looked up a moment ago. */
export async function jobView(parts: JobViewParts, viewer: Viewer, args: PlainDict, fresh = false): Promise<PlainDict> {
  const seen = await seenJob(parts.store, viewer, textField(args, 'jid'));
  const outcomes = await (fresh ? outcomesNow : outcomesOf)(parts, seen);
  const letters = outcomes.map(({ letter }) => letter);
  const active = parts.tracker.job(seen.job.jid);
  const running = active !== undefined && !active.ended;
  const last = Math.max(0, ...outcomes.map(({ received }) => received ?? 0));
  const open = letters.some((letter) => 'wrq'.includes(letter));
  return newDict([
    ...Object.entries(jobFacts(seen.job)),
    ['ended', running || last === 0 ? null : last],
    ['state', running ? 'running' : open ? 'open' : 'done'],
    ['minions', outcomes.map(({ id }) => id)],
    ['verdicts', letters.join('')],
    ['balance', balanceOfLetters(letters)],
    ['groups', await groupsOf(parts, seen.job.jid, outcomes)],
  ]);
}

/** What was asked, by whom, and the command that asks the same. */
export function jobFacts(job: PublishedJob): PlainDict {
  return newDict([
    ['jid', job.jid],
    ['fun', wireTexts(job.fun)],
    ['arg', [...job.arg]],
    ['tgt', wireTexts(job.tgt)],
    ['tgtType', job.tgt_type],
    ['user', job.user ?? 'root'],
    ['started', jidToMillis(job.jid) ?? null],
    ['schedule', job.schedule ?? null],
    ['command', commandOf(job)],
  ]);
}

function grouped(outcomes: readonly Outcome[]): Map<string, Outcome[]> {
  const groups = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const name = `${outcome.letter}:${outcome.group}`;
    const group = groups.get(name);
    if (group) group.push(outcome);
    else groups.set(name, [outcome]);
  }
  return groups;
}

/** The largest first, each with one of its answers. */
async function groupsOf(parts: JobViewParts, jid: string, outcomes: readonly Outcome[]): Promise<Value[]> {
  const groups = [...grouped(outcomes)].sort(([, a], [, b]) => b.length - a.length).slice(0, mostGroups);
  const samples = groups.flatMap(([, [first]]) => (first && first.size > 0 ? [first] : []));
  const shown = await answersOf(parts, jid, samples, false);
  return groups.map(([, members]) => {
    const first = members[0] as Outcome;
    const answer = shown.get(first.id);
    return newDict([
      ['group', first.group],
      ['verdict', first.letter],
      ['count', members.length],
      ['retcode', first.retcode],
      ['ids', members.slice(0, mostNamed).map(({ id }) => id)],
      ['reason', first.reason],
      ['return', answer?.value ?? null],
      ['out', answer?.out ?? null],
      ['cut', answer?.cut ?? false],
    ]);
  });
}

interface Answer {
  readonly value: Value;
  readonly out: string | null;
  readonly cut: boolean;
}

/** The answers of some minions; the large ones are left out unless `whole`. */
async function answersOf(
  { store }: JobViewParts,
  jid: string,
  outcomes: readonly Outcome[],
  whole: boolean,
): Promise<Map<string, Answer>> {
  let left = mostShownBytes;
  const wanted: string[] = [];
  const answers = new Map<string, Answer>();
  for (const { id, size } of outcomes) {
    if (size === 0) continue;
    const fits = whole || (size <= largestShown && size <= left);
    if (fits) {
      left -= size;
      wanted.push(id);
    } else answers.set(id, { value: null, out: null, cut: true });
  }
  const sql = 'SELECT id, full_ret FROM ret WHERE jid = ? AND id IN (SELECT value FROM json_each(?))';
  const rows = wanted.length === 0 ? [] : await store.query(sql, [jid, JSON.stringify(wanted)]);
  for (const row of rows) {
    const load = parseDict(dictGet(row, 'full_ret'));
    const value = dictGet(load, 'return') ?? null;
    answers.set(String(dictGet(row, 'id')), { value, out: textField(load, 'out') ?? null, cut: false });
  }
  return answers;
}

const cols = ['id', 'verdict', 'retcode', 'received', 'size', 'group', 'out', 'return', 'cut', 'reason'];
const sortable = ['id', 'verdict', 'retcode', 'received', 'size', 'group'];

export async function jobReturns(parts: JobViewParts, viewer: Viewer, args: PlainDict): Promise<PlainDict> {
  const seen = await seenJob(parts.store, viewer, textField(args, 'jid'));
  const request = readPage(args);
  const outcomes = await filtered(parts, seen, args, request.q);
  const { column, down } = sortOf(request.sort, sortable);
  const cellOf = ({ id, letter, retcode, received, size, group }: Outcome) =>
    [id, letter, retcode, received, size, group][column] ?? null;
  const by = textField(args, 'by');
  const grouping =
    by === 'group' ? (each: Outcome) => each.group : by === 'verdict' ? (each: Outcome) => each.letter : undefined;
  const sorted =
    request.sort === '' && !grouping ? outcomes : sortRows([...outcomes], grouping ?? cellOf, ({ id }) => id, down);
  const page = sorted.slice(request.offset, request.offset + request.limit);
  const answers = await answersOf(parts, seen.job.jid, page, args['whole'] === true);
  return pageValue({
    ...{ total: sorted.length, offset: request.offset, cols, version: 0 },
    rows: page.map(({ id, letter, retcode, received, size, group, reason }) => {
      const { value = null, out = null, cut = false } = answers.get(id) ?? {};
      return [id, letter, retcode, received, size, group, out, value, cut, reason];
    }),
  });
}

async function filtered(parts: JobViewParts, seen: SeenJob, args: PlainDict, q: string): Promise<Outcome[]> {
  const [verdict, group, id] = ['verdict', 'group', 'id'].map((name) => textField(args, name) ?? '');
  const outcomes = (await outcomesOf(parts, seen)).filter(
    (each) =>
      (verdict === '' || verdict!.includes(each.letter)) &&
      (group === '' || each.group === group) &&
      (id === '' || each.id === id),
  );
  const words = wordsOf(q);
  if (words.length === 0) return outcomes;
  const sql = `SELECT id FROM ret WHERE jid = ? ${words.map(() => 'AND instr(lower(id || char(10) || full_ret), ?) > 0').join(' ')}`;
  const rows = await parts.store.query(sql, [seen.job.jid, ...words]);
  const found = new Set(rows.map((row) => String(dictGet(row, 'id'))));
  return outcomes.filter(
    (each) =>
      found.has(each.id) ||
      (each.size === 0 && words.every((word) => `${each.id}\n${each.reason}`.toLowerCase().includes(word))),
  );
}

/** The whole answer of one minion. */
export async function jobReturn(parts: JobViewParts, viewer: Viewer, args: PlainDict): Promise<PlainDict> {
  const id = textField(args, 'id') ?? '';
  const page = await jobReturns(parts, viewer, newDict([...Object.entries(args), ['whole', true], ['limit', 1]]));
  const rows = page['rows'];
  const row = Array.isArray(rows) ? rows[0] : undefined;
  if (!Array.isArray(row)) throw unknownThing(`minion in this job (${id.slice(0, 64)})`);
  return newDict(cols.map((name, at) => [name, row[at] ?? null]));
}

/** The minions of a job that a repetition or a stop is about. */
export async function idsWith(parts: JobViewParts, seen: SeenJob, letters: string): Promise<string[]> {
  return (await outcomesOf(parts, seen)).filter(({ letter }) => letters.includes(letter)).map(({ id }) => id);
}

export const wrongChoice = (name: string, choices: readonly string[]): HaliteError =>
  new HaliteError('call.arguments', `${name} must be one of: ${choices.join(', ')}.`);
