// What the API answers when it does not do what was asked: the status and the sentence that Salt's clients know.
import { HaliteError } from '../../base/errors/index.ts';

export interface ApiErrorExtras {
  /** What to do next, or why. */
  readonly hint?: string | undefined;
  readonly code?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** How many chunks before this one were run. */
  readonly done?: number;
}

export class ApiError extends Error {
  readonly status: number;
  readonly extras: ApiErrorExtras;

  constructor(status: number, text: string, extras: ApiErrorExtras = {}) {
    super(text);
    this.name = 'ApiError';
    this.status = status;
    this.extras = extras;
  }
}

/** For people who asked with a browser. */
export function errorPage(status: number, text: string, headers: Readonly<Record<string, string>>) {
  const escaped = text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
  const page = `<!DOCTYPE html>\n<html lang="en"><head><title>${status}</title></head><body><p>${escaped}</p></body></html>\n`;
  const own = { 'Content-Type': 'text/html;charset=utf-8', 'Content-Security-Policy': "default-src 'none'" };
  return { status, bytes: Buffer.from(page), headers: { ...headers, ...own } };
}

export const noPermission = (): ApiError => new ApiError(401, 'No permission -- see authorization schemes');
export const noCredentials = (): ApiError => new ApiError(401, 'No authentication credentials given');
const masterAway = (): ApiError => new ApiError(503, 'Salt Master is not available.');
export const wrongMethod = (): ApiError => new ApiError(405, 'Specified method is invalid for this resource');
export const tooMany = (why: string): ApiError =>
  new ApiError(429, why, { headers: { 'Retry-After': '5' }, hint: 'Try again when some of them are finished.' });

const words: Readonly<Record<string, number>> = {
  'call.arguments': 400,
  'call.unknown': 400,
  'target.syntax': 400,
  'target.cost': 400,
  'codec.limit': 400,
  'codec.malformed': 400,
  'path.refused': 400,
  'auth.failed': 401,
  'auth.denied': 401,
  'daemon.unreachable': 503,
  'wire.closed': 503,
};

/** An error of the master as an answer; undefined for what nobody foresaw. */
export function fromMaster(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (!(error instanceof HaliteError)) return undefined;
  const { code, hint, message } = error;
  const status = words[code];
  if (status === 503) return masterAway();
  if (code === 'store.unavailable') return new ApiError(503, message, { code, hint, headers: { 'Retry-After': '5' } });
  if (code === 'auth.failed' && /^Too many/.test(hint ?? ''))
    return new ApiError(429, message, { code, hint, headers: { 'Retry-After': secondsIn(hint) } });
  if (status !== undefined) return new ApiError(status, message, { code, hint });
  return code === 'call.failed' && message.startsWith('The daemon accepts no more') ? tooMany(message) : undefined;
}

const secondsIn = (hint = ''): string => /(\d+) seconds/.exec(hint)?.[1] ?? '5';
