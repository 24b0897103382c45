// What the SQL returners need of a database, and their errors: what may pass, and what never will.
import { HaliteError, messageOf } from 'halite/sdk';

export type SqlValue = string | number | boolean | null;
export type SqlRow = Readonly<Record<string, unknown>>;
export type SqlRun = (sql: string, values?: readonly SqlValue[]) => Promise<SqlRow[]>;

export interface SqlClient {
  readonly run: SqlRun;
  /** Everything or nothing. */
  transaction<T>(work: (run: SqlRun) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** How a database says things. */
export interface Dialect {
  /** A column or table name, quoted. */
  name(text: string): string;
  /** The n-th value of a statement, from 1. */
  mark(n: number): string;
  /** A JSON column as text. */
  asText(column: string): string;
  /** JSON text as the column takes it. */
  json(text: string): string;
  success(value: boolean): SqlValue;
  /** After an INSERT: a row with that key is left as it is. */
  readonly unlessThere: string;
  /** So many seconds ago. */
  ago(mark: string): string;
  /** An empty table with the columns of another. */
  copyTable(copy: string, original: string): string;
}

/** Loads a driver; without it the error says what to install. */
export async function loadDriver<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw new HaliteError('extension.unavailable', `The package ${name} is not installed: ${messageOf(error)}`, {
      hint: `Install it beside Halite with npm install ${name}.`,
      cause: error,
    });
  }
}

export interface ErrorWords {
  readonly returner: string;
  /** Where the database is. */
  readonly place: string;
  /** Codes of errors that come from the data itself: trying again does not help. */
  isPermanent(code: string): boolean;
  /** Codes of a table or database that is not there. */
  isMissing(code: string): boolean;
}

/** store.unavailable when trying again later may help, call.failed when this data will never be taken. */
export function sqlError(words: ErrorWords, error: unknown): HaliteError {
  if (error instanceof HaliteError) return error;
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  const text = wordsOf(error);
  if (words.isPermanent(code)) {
    return new HaliteError('call.failed', `The ${words.returner} returner cannot keep this: ${text}`, { cause: error });
  }
  if (words.isMissing(code)) {
    const hint = 'Create the tables of docs/guide/returners.md.';
    return new HaliteError(
      'store.unavailable',
      `The ${words.returner} returner finds no tables at ${words.place}: ${text}. ${hint}`,
      { hint, cause: error },
    );
  }
  return new HaliteError(
    'store.unavailable',
    `The ${words.returner} returner could not use the database at ${words.place}: ${text}`,
    { cause: error },
  );
}

/** An attempt to reach several addresses has its reasons inside. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  const text = messageOf(error);
  return text !== '' ? text : String((error as { code?: unknown } | null)?.code ?? 'unknown error');
}

/** One after the other, however many ask at the same time. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}
