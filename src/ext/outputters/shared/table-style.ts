// The style of tables, from the `out.table.*` options.
import { HaliteError, isTruthy, type OutputOptions, type Value } from 'halite/sdk';
import { colorsFor } from '../../shared/output/colors.ts';
import { displayTables, type TableSearch, type TableStyle } from './table-lines.ts';

function justifyOf(setting: string): TableStyle['justify'] {
  const name = setting.toLowerCase();
  if (name === 'center' || name === 'left' || name === 'right') return name;
  throw new HaliteError('config.value', `out.table.justify: '${setting}' is none of center, left, right`);
}

/** Renders the tables of a value with the operator's options, which `fixed` search keys override. */
export function renderTable(data: Value, options: OutputOptions, fixed: TableSearch = {}): string {
  const setting = (name: string): Value | undefined => options.opts[`out.table.${name}`] ?? undefined;
  const text = (name: string, fallback: string): string => {
    const value = setting(name);
    return typeof value === 'string' ? value : fallback;
  };
  const number = (name: string, fallback: number): number => {
    const value = setting(name);
    return typeof value === 'number' ? value : fallback;
  };
  const style: TableStyle = {
    colors: colorsFor(options),
    hasHeader: isTruthy(setting('has_header') ?? true),
    rowDelimiter: text('row_delimiter', '-'),
    delim: text('delim', ' | '),
    justify: justifyOf(text('justify', 'center')),
    separateRows: isTruthy(setting('separate_rows') ?? true),
    prefix: text('prefix', '| '),
    suffix: text('suffix', ' |'),
    width: number('width', 50),
  };
  const rowsKey = fixed.rowsKey ?? text('rows_key', '');
  const labelsKey = fixed.labelsKey ?? text('labels_key', '');
  const search = { ...(rowsKey ? { rowsKey } : {}), ...(labelsKey ? { labelsKey } : {}) };
  const indent = number('nested_indent', 0);
  const title = text('title', '');
  const { colors } = style;
  const head = title && rowsKey ? [`${' '.repeat(indent)}${title}${colors.WHITE}${colors.ENDC}\n`] : [];
  return [...head, ...displayTables(data, style, search, indent)].join('\n');
}
