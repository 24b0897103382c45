// Answers of the API are read field by field: what is missing or of another type becomes a safe value, never a crash.
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (isList(value) ? value : []);
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
export const flagOf = (value: unknown): boolean => value === true;
export const textsOf = (value: unknown): readonly string[] => listOf(value).map(textOf);

/** Seconds since 1970; the API says milliseconds, tokens have seconds, some answers are text. */
export function timeOf(value: unknown): number | undefined {
  const given = numberOf(value);
  if (given !== undefined) return given > 1e11 ? given / 1000 : given;
  const parsed = Date.parse(textOf(value));
  return Number.isNaN(parsed) ? undefined : parsed / 1000;
}

/** Numbers by name: counts of a summary, a balance. */
export const countsOf = (value: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, count]) => [name, numberOf(count) ?? 0]));

/** A list whose rows name no columns: each row becomes fields by the columns named once. */
export interface Page {
  readonly total: number;
  readonly offset: number;
  readonly version: number;
  readonly rows: readonly Fields[];
}

export function pageOf(value: unknown): Page {
  const fields = fieldsOf(value);
  const cols = textsOf(fields['cols']);
  const rows = listOf(fields['rows']).map((row) =>
    isList(row) ? Object.fromEntries(cols.map((col, at) => [col, row[at]])) : fieldsOf(row),
  );
  return {
    rows,
    total: numberOf(fields['total']) ?? rows.length,
    offset: numberOf(fields['offset']) ?? 0,
    version: numberOf(fields['version']) ?? 0,
  };
}
