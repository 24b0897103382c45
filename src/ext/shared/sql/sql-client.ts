// The database interface of the SQL returners, and errors: temporary and permanent ones.
import { HaliteError, messageOf } from 'halite/sdk';

export type SqlValue = string | number | boolean | null;
export type SqlRow = Readonly<Record<string, unknown>>;
export type SqlRun = (sql: string, values?: readonly SqlValue[]) => Promise<SqlRow[]>;

export interface SqlClient {
  readonly run: SqlRun;
  /** Runs the statements in one transaction. */
  transaction<T>(work: (run: SqlRun) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The SQL dialect of a database. */
export interface Dialect {
  /** A column or table name, quoted. */
  name(text: string): string;
  /** The n-th value of a statement, from 1. */
  mark(n: number): string;
  /** A JSON column as text. */
  asText(column: string): string;
  /** JSON text in the form that the column accepts. */
  json(text: string): string;
  success(value: boolean): SqlValue;
  /** The clause after an INSERT that keeps an existing row with the same key. */
  readonly unlessThere: string;
  /** The time this many seconds ago. */
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
  /** The address of the database. */
  readonly place: string;
  /** Codes of errors of the data itself: a retry does not help. */
  isPermanent(code: string): boolean;
  /** Codes of a missing table or database. */
  isMissing(code: string): boolean;
}

/** store.unavailable when a later retry may help, call.failed when this data will never be accepted. */
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

/** When several addresses fail, the reasons are inside the error. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  const text = messageOf(error);
  return text !== '' ? text : String((error as { code?: unknown } | null)?.code ?? 'unknown error');
}

/** Runs concurrent calls one after the other. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}
