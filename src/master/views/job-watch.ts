// Follows one job, or all that are under way: first the whole state, then what changes, several changes at once.
import { textField } from '../../base/codec/fields.ts';
import { asList, asPlainDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { funName } from '../../protocol/job/job.ts';
import type { ActiveJob, JobUpdate } from '../tracking/active-job.ts';
import type { ResumedJobs } from '../tracking/resume.ts';
import type { Tracker } from '../tracking/tracker.ts';
import { type SeenJob, seenJob, type Viewer } from './job-access.ts';
import { type JobViewParts, jobFacts, jobView } from './job-view.ts';
import { balanceOfLetters, hasChanges, isStates, letterOf } from './verdicts.ts';
import { followChanges, pause } from './watch.ts';

export interface JobWatchParts extends JobViewParts {
  readonly tracker: Pick<Tracker, 'job' | 'active'>;
  readonly resumed: Pick<ResumedJobs, 'open'>;
  readonly bus: Pick<EventBus, 'subscribe'>;
}

const jobPauseMs = 100;
const listPauseMs = 250;
/** A message has at most this many verdicts, so that it stays below 64 kB. */
const mostAtOnce = 4_000;
/** Where another master follows the job, its results are looked up. */
const lookEveryMs = 2_000;
/** Rights and tokens are looked at again in this time, also when nothing happens. */
export const tickMs = 5_000;
const longestOutput = 16 * 1024;

/** What happened since the reader was told last: bounded by the number of minions, however slow the reader is. */
class Noted {
  /** Whether its states changed something. */
  readonly minions = new Map<string, boolean>();
  output = '';
  readonly #states: boolean;
  readonly #followed: string;

  constructor(fun: string, followed: string) {
    this.#states = isStates(fun);
    this.#followed = followed;
  }

  take(update: JobUpdate): void {
    if (update.type === 'end' || update.type === 'more') return;
    if (update.type === 'progress') {
      if (update.id === this.#followed) this.output = `${this.output}${update.text}\n`.slice(-longestOutput);
    }
    this.minions.set(update.id, update.type === 'return' && this.#states && hasChanges(update.ret.return));
  }

  get isEmpty(): boolean {
    return this.minions.size === 0;
  }
}

/** The letters of a job that this master follows. */
class Letters {
  readonly #index = new Map<string, number>();
  readonly #letters: string[];
  readonly #changed = new Set<number>();
  readonly #active: ActiveJob;

  constructor(active: ActiveJob, ids: readonly string[], verdicts: string) {
    this.#active = active;
    this.#letters = [...verdicts];
    for (const [at, id] of ids.entries()) this.#index.set(id, at);
  }

  note(id: string, changed: boolean): void {
    const at = this.#index.get(id);
    if (at === undefined) return;
    const letter = letterOf(this.#active.verdict(id));
    this.#set(at, changed && letter === 'o' ? 'c' : letter);
  }

  /** What happened without an update: a minion that started. */
  look(): void {
    for (const [id, at] of this.#index) {
      const letter = letterOf(this.#active.verdict(id));
      if (letter === 'r' || letter === 'q' || letter === 'x') this.#set(at, letter);
    }
  }

  indexOf(id: string): number | undefined {
    return this.#index.get(id);
  }

  *take(): Iterable<Value[]> {
    const changes = [...this.#changed].map((at): Value => [at, this.#letters[at] ?? 'w']);
    this.#changed.clear();
    for (let at = 0; at < changes.length; at += mostAtOnce) yield changes.slice(at, at + mostAtOnce);
  }

  balance(): PlainDict {
    return balanceOfLetters(this.#letters);
  }

  #set(at: number, letter: string): void {
    if (this.#letters[at] === letter) return;
    this.#letters[at] = letter;
    this.#changed.add(at);
  }
}

export async function* watchJob(
  parts: JobWatchParts,
  viewerNow: () => Promise<Viewer>,
  args: PlainDict,
  signal: AbortSignal,
): AsyncIterable<Value> {
  const viewer = await viewerNow();
  const { job } = await seenJob(parts.store, viewer, textField(args, 'jid'));
  const active = await parts.resumed.open(job.jid);
  const followed = textField(args, 'follow') ?? '';
  const noted = new Noted(funName(job.fun), followed);
  // From now on nothing is missed: what the first state contains already changes nothing.
  const stop = active?.listen((update) => noted.take(update));
  try {
    const first = await jobView(parts, viewer, args, true);
    yield newDict([['type', 'job'], ...Object.entries(withoutGroups(first))]);
    if (!active || active.ended) yield* lookAgain(parts, viewerNow, args, first, signal);
    else {
      let last = viewer;
      const stillSeen = async (): Promise<void> => {
        const now = await viewerNow();
        if (now !== last) await seenJob(parts.store, now, job.jid);
        last = now;
      };
      yield* follow(active, first, { noted, followed, stillSeen, signal });
    }
  } finally {
    stop?.();
  }
}

const withoutGroups = (view: PlainDict): PlainDict =>
  newDict(Object.entries(view).filter(([name]) => name !== 'groups'));

interface Follow {
  readonly noted: Noted;
  /** The minion whose output is wanted. */
  readonly followed: string;
  /** Throws when the rights of the reader do not suffice any more. */
  stillSeen(): Promise<void>;
  readonly signal: AbortSignal;
}

async function* follow(active: ActiveJob, first: PlainDict, given: Follow): AsyncIterable<Value> {
  const ids = (asList(first['minions']) ?? []).map(String);
  const letters = new Letters(active, ids, String(first['verdicts']));
  const changes = followChanges((changed) => active.listen(changed), given.signal, 1_000);
  let seq = 0;
  try {
    for (;;) {
      await given.stillSeen();
      const { noted } = given;
      for (const [id, changed] of noted.minions) letters.note(id, changed);
      noted.minions.clear();
      letters.look();
      for (const part of letters.take())
        yield newDict([
          ['type', 'verdicts'],
          ['seq', ++seq],
          ['changes', part],
          ['balance', letters.balance()],
        ]);
      const at = letters.indexOf(given.followed);
      if (at !== undefined && noted.output !== '') {
        const text = noted.output;
        noted.output = '';
        yield newDict([
          ['type', 'output'],
          ['index', at],
          ['text', text],
        ]);
      }
      if (given.signal.aborted) return;
      if (active.ended && noted.isEmpty) break;
      await pause(jobPauseMs, 0, given.signal);
      if (noted.isEmpty && !active.ended) await changes.next();
    }
    yield endItem(active.jid, letters.balance(), Date.now() - active.started);
  } finally {
    changes.close();
  }
}

const endItem = (jid: string, balance: PlainDict, ms: number): PlainDict =>
  newDict([
    ['type', 'end'],
    ['jid', jid],
    ['balance', balance],
    ['duration', ms],
  ]);

/** A job that this master does not follow: late results, and those that other masters receive. */
async function* lookAgain(
  parts: JobWatchParts,
  viewerNow: () => Promise<Viewer>,
  args: PlainDict,
  first: PlainDict,
  signal: AbortSignal,
): AsyncIterable<Value> {
  let before = String(first['verdicts']);
  const started = Number(first['started'] ?? 0);
  const open = (letters: string): boolean => /[wr]/.test(letters);
  let seq = 0;
  while (open(before) && !signal.aborted) {
    await pause(lookEveryMs, 0, signal);
    if (signal.aborted) return;
    const view = await jobView(parts, await viewerNow(), args);
    const now = String(view['verdicts']);
    const changes = [...now].flatMap((letter, at): Value[] => (letter === before[at] ? [] : [[at, letter]]));
    before = now;
    for (let at = 0; at < changes.length; at += mostAtOnce)
      yield newDict([
        ['type', 'verdicts'],
        ['seq', ++seq],
        ['changes', changes.slice(at, at + mostAtOnce)],
        ['balance', view['balance'] ?? newDict()],
      ]);
  }
  if (signal.aborted) return;
  const view = await jobView(parts, await viewerNow(), args);
  const ended = Number(view['ended'] ?? started);
  yield endItem(textField(view, 'jid') ?? '', asPlainDict(view['balance']) ?? newDict(), Math.max(0, ended - started));
}

const mostFollowed = 100;

/** All jobs that are under way and that the caller may see, then each new one. */
export async function* watchJobs(
  parts: JobWatchParts,
  viewerNow: () => Promise<Viewer>,
  signal: AbortSignal,
): AsyncIterable<Value> {
  const fresh: string[] = parts.tracker
    .active()
    .map(({ jid }) => jid)
    .slice(-mostFollowed);
  const followed = new Map<string, { readonly active: ActiveJob; balance: string; seq: number }>();
  const changes = followChanges(
    (changed) =>
      parts.bus.subscribe('salt/job/', ({ tag }) => {
        const [, , jid, what] = tag.split('/');
        if (what === 'new' && jid !== undefined && fresh.length < mostFollowed) fresh.push(jid);
        changed();
      }),
    signal,
    tickMs,
  );
  try {
    let last = await viewerNow();
    yield newDict([['type', 'start']]);
    while (!signal.aborted) {
      const started = performance.now();
      const viewer = await viewerNow();
      // The rights have changed: what may be seen now begins again.
      if (viewer !== last)
        for (const jid of followed.keys()) if (!(await seenNow(parts, viewer, jid))) followed.delete(jid);
      last = viewer;
      // They are announced before they are stored.
      if (fresh.length > 0) await parts.store.saveVerdicts([]);
      for (const jid of fresh.splice(0)) {
        const active = parts.tracker.job(jid);
        const seen = active && (await seenNow(parts, viewer, jid));
        if (!active || !seen || active.fun === 'saltutil.find_job' || followed.size >= mostFollowed) continue;
        const balance = balanceOf(active);
        followed.set(jid, { active, balance: JSON.stringify(balance), seq: 0 });
        const load = newDict([...Object.entries(jobFacts(seen.job)), ['minions', seen.ids.length]]);
        yield newDict([
          ['type', 'job'],
          ['jid', jid],
          ['load', load],
          ['balance', balance],
        ]);
      }
      for (const [jid, known] of followed) {
        const balance = balanceOf(known.active);
        const text = JSON.stringify(balance);
        if (text !== known.balance) {
          known.balance = text;
          yield newDict([
            ['type', 'verdicts'],
            ['jid', jid],
            ['seq', ++known.seq],
            ['changes', []],
            ['balance', balance],
          ]);
        }
        if (!known.active.ended) continue;
        followed.delete(jid);
        yield endItem(jid, balance, Date.now() - known.active.started);
      }
      await pause(listPauseMs, performance.now() - started, signal);
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

const seenNow = (parts: JobWatchParts, viewer: Viewer, jid: string): Promise<SeenJob | undefined> =>
  seenJob(parts.store, viewer, jid).catch(() => undefined);

const balanceOf = (active: ActiveJob): PlainDict =>
  balanceOfLetters([...active.verdicts().values()].map((verdict) => letterOf(verdict)));
