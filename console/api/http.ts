// Requests to `/halite/v1` of the same origin. The token is a cookie that scripts cannot read.
import { signal } from '@preact/signals';
import { fieldsOf, numberOf, textOf } from './read.ts';

/** A refusal, in the form of RFC 9457. */
export class Problem extends Error {
  readonly status: number;
  readonly hint: string;
  readonly code: string;

  constructor(status: number, message: string, { hint = '', code = '' } = {}) {
    super(message);
    this.name = 'Problem';
    this.status = status;
    this.hint = hint;
    this.code = code;
  }
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Asked {
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** A 401 is an answer here, not the end of the session. */
  readonly anonymous?: boolean;
}

/** Counts answers that said the session is over. */
export const sessionLost = signal(0);

const patience = 60_000;

export function addressOf(path: string, query: Query = {}): string {
  const address = new URL(`../halite/v1/${path}`, new URL('.', location.href));
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') address.searchParams.set(name, String(value));
  return address.href;
}

/** One part of a path: ids may contain anything. */
export const part = (text: string): string => encodeURIComponent(text);

async function send(method: string, path: string, asked: Asked): Promise<Response> {
  const { query, body, headers = {}, anonymous = false } = asked;
  const limit = AbortSignal.timeout(patience);
  let response: Response;
  try {
    response = await fetch(addressOf(path, query), {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: asked.signal ? AbortSignal.any([asked.signal, limit]) : limit,
    });
  } catch (error) {
    if (asked.signal?.aborted) throw error;
    throw new Problem(0, 'no-answer');
  }
  if (response.ok) return response;
  if (response.status === 401 && !anonymous) sessionLost.value += 1;
  throw await problemOf(response);
}

async function problemOf(response: Response): Promise<Problem> {
  const fields = fieldsOf(await response.json().catch(() => undefined));
  const text = textOf(fields['detail']) || textOf(fields['title']) || textOf(fields['return']);
  return new Problem(numberOf(fields['status']) ?? response.status, text || `HTTP ${response.status}`, {
    hint: textOf(fields['hint']),
    code: textOf(fields['code']),
  });
}

export async function ask(method: string, path: string, asked: Asked = {}): Promise<unknown> {
  const response = await send(method, path, { ...asked, headers: { Accept: 'application/json', ...asked.headers } });
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}

export const get = (path: string, query?: Query, signal?: AbortSignal): Promise<unknown> =>
  ask('GET', path, { ...(query ? { query } : {}), ...(signal ? { signal } : {}) });

export const post = (path: string, body: unknown = {}): Promise<unknown> => ask('POST', path, { body });

export async function getText(path: string, query?: Query, signal?: AbortSignal): Promise<string> {
  const response = await send('GET', path, {
    ...(query ? { query } : {}),
    ...(signal ? { signal } : {}),
    headers: { Accept: 'text/plain, */*' },
  });
  return await response.text();
}
