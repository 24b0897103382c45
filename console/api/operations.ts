// What the master tells about itself: findings, tokens, the audit log, its configuration, its figures.
import { get, getText } from './http.ts';
import { type Fields, fieldsOf, listOf, pageOf, textOf, timeOf } from './read.ts';

export interface Finding {
  /** problem, warning or fine */
  readonly level: string;
  readonly text: string;
  readonly repair: string;
}

/** As the runner doctor.fleet gives them. */
export async function doctor(): Promise<readonly Finding[]> {
  return listOf(fieldsOf(await get('doctor', { all: true }))['findings']).map((each) => {
    const fields = fieldsOf(each);
    return { level: textOf(fields['level']), text: textOf(fields['what']), repair: textOf(fields['repair']) };
  });
}

export interface TokenRow {
  /** The first characters: they name it, and are no token. */
  readonly token: string;
  readonly user: string;
  readonly eauth: string;
  readonly start: number | undefined;
  readonly expire: number | undefined;
}

export async function tokens(): Promise<readonly TokenRow[]> {
  return pageOf(await get('tokens', { limit: 1000 })).rows.map((each) => ({
    token: textOf(each['token']),
    user: textOf(each['user']),
    eauth: textOf(each['eauth']),
    start: timeOf(each['start']),
    expire: timeOf(each['expire']),
  }));
}

export const audit = async (q: string): Promise<readonly Fields[]> =>
  pageOf(await get('audit', { q, limit: 500 })).rows;

/** Options by name; secrets are masked by the master. */
export async function config(q = ''): Promise<Fields> {
  const { rows } = pageOf(await get('config', { q, limit: 1000 }));
  return Object.fromEntries(rows.map((row) => [textOf(row['name']), row['value']]));
}

export const metricsText = (): Promise<string> => getText('metrics');
