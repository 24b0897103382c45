// Jobs: the history, one job, its answers, and what can be done with it.
import { ask, get, getText, part, post, type Query } from './http.ts';
import { type Fields, fieldsOf, flagOf, listOf, numberOf, type Page, pageOf, textOf, textsOf, timeOf } from './read.ts';

export interface JobRow {
  readonly jid: string;
  readonly fun: string;
  readonly target: string;
  readonly targetType: string;
  readonly arg: readonly unknown[];
  readonly user: string;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly running: boolean;
  /** The name of the schedule that started it. */
  readonly schedule: string;
  readonly master: string;
  readonly minions: number;
  readonly balance: Readonly<Record<string, number>>;
}

export const jobRow = (fields: Fields): JobRow => ({
  jid: textOf(fields['jid']),
  fun: Array.isArray(fields['fun']) ? textsOf(fields['fun']).join(', ') : textOf(fields['fun']),
  target: Array.isArray(fields['tgt']) ? textsOf(fields['tgt']).join(',') : textOf(fields['tgt'] ?? fields['target']),
  targetType: textOf(fields['tgtType'] ?? fields['tgt_type']) || 'glob',
  arg: listOf(fields['arg']),
  user: textOf(fields['user']),
  startedAt: timeOf(fields['started']),
  endedAt: timeOf(fields['ended']),
  running: textOf(fields['state']) === 'running',
  schedule: textOf(fields['schedule']),
  master: textOf(fields['master']),
  minions: numberOf(fields['minions']) ?? 0,
  balance: {
    ok: numberOf(fields['ok']) ?? 0,
    failed: numberOf(fields['failed']) ?? 0,
    missing: numberOf(fields['missing']) ?? 0,
    waiting: numberOf(fields['open']) ?? 0,
  },
});

export const jobs = async (query: Query, signal?: AbortSignal): Promise<Page> =>
  pageOf(await get('jobs', query, signal));

export interface AnswerGroup {
  readonly key: string;
  readonly verdict: string;
  readonly count: number;
  readonly retcode: number | undefined;
  /** The first ones. */
  readonly ids: readonly string[];
  /** Why there is no answer. */
  readonly reason: string;
  readonly answer: unknown;
  /** The answer is too large to be part of a list. */
  readonly cut: boolean;
}

export interface JobDetail {
  readonly row: JobRow;
  readonly ids: readonly string[];
  /** One character for each id. */
  readonly verdicts: string;
  readonly groups: readonly AnswerGroup[];
  readonly command: string;
}

function groupOf(value: unknown): AnswerGroup {
  const fields = fieldsOf(value);
  return {
    key: textOf(fields['group']),
    verdict: textOf(fields['verdict']),
    count: numberOf(fields['count']) ?? 0,
    retcode: numberOf(fields['retcode']),
    ids: textsOf(fields['ids']),
    reason: textOf(fields['reason']),
    answer: fields['return'],
    cut: flagOf(fields['cut']),
  };
}

export async function jobDetail(jid: string): Promise<JobDetail> {
  const fields = fieldsOf(await get(`jobs/${part(jid)}`));
  return {
    row: jobRow(fields),
    ids: textsOf(fields['minions']),
    verdicts: textOf(fields['verdicts']),
    groups: listOf(fields['groups']).map(groupOf),
    command: textOf(fields['command']),
  };
}

export interface AnswerRow {
  readonly id: string;
  readonly verdict: string;
  readonly retcode: number | undefined;
  /** Seconds since 1970. */
  readonly received: number | undefined;
  readonly size: number;
  readonly answer: unknown;
  readonly cut: boolean;
  readonly reason: string;
}

export const answerRow = (fields: Fields): AnswerRow => ({
  id: textOf(fields['id']),
  verdict: textOf(fields['verdict']),
  retcode: numberOf(fields['retcode']),
  received: timeOf(fields['received']),
  size: numberOf(fields['size']) ?? 0,
  answer: fields['return'],
  cut: flagOf(fields['cut']),
  reason: textOf(fields['reason']),
});

export const answers = async (jid: string, query: Query, signal?: AbortSignal): Promise<Page> =>
  pageOf(await get(`jobs/${part(jid)}/returns`, query, signal));

/** One answer, however large it is. */
export const wholeAnswer = async (jid: string, id: string): Promise<AnswerRow> =>
  answerRow(fieldsOf(await get(`jobs/${part(jid)}/returns/${part(id)}`)));

/** Answers as a file. */
export const answersText = (jid: string, query: Query): Promise<string> => getText(`jobs/${part(jid)}/returns`, query);

export interface Publish {
  readonly tgt: string;
  readonly tgt_type: string;
  readonly fun: string;
  readonly arg: readonly unknown[];
  readonly kwarg: Fields;
  readonly batch?: { readonly size: string };
  readonly deadline?: number;
  readonly durable?: number;
  readonly require?: string;
}

export interface Published {
  readonly jid: string;
  readonly minions: number;
}

/** The key makes a repeated click, or a retry after a lost answer, the same job. */
export async function publish(job: Publish, once: string): Promise<Published> {
  // A batch runs as long as somebody follows it; the API cannot keep its answer.
  const headers: Record<string, string> = job.batch === undefined ? { 'Idempotency-Key': once } : {};
  const fields = fieldsOf(await ask('POST', 'jobs', { body: job, headers }));
  const minions = fields['minions'];
  return {
    jid: textOf(fields['jid']),
    minions: Array.isArray(minions) ? minions.length : (numberOf(minions) ?? 0),
  };
}

export type Again = 'all' | 'failed' | 'missing' | 'unfinished';

export const runAgain = async (jid: string, on: Again): Promise<string> =>
  textOf(fieldsOf(await post(`jobs/${part(jid)}/again`, { on }))['jid']);

export type StopHow = 'term' | 'kill' | 'forget' | 'cancel-pending';

export const stopJob = (jid: string, how: StopHow): Promise<unknown> => post(`jobs/${part(jid)}/stop`, { how });
