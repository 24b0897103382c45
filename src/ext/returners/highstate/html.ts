// The report as HTML that mail programs show: tables inside tables, styles at every element.
import { dictEntries, isDict, pyStr, type Value } from 'halite/sdk';

const line = '1px solid #9e9e9e';
const styles: Readonly<Record<string, string>> = {
  unchanged: 'color:blue;',
  changed: 'color:green;',
  failed: 'color:red;',
};
const cell = 'vertical-align:top;font-family:Helvetica,Arial,sans-serif;font-size:9pt;';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => escapes[char] ?? char);

function td(
  inside: string,
  style: string,
  { top, left, more = '' }: { top: boolean; left: boolean; more?: string },
): string {
  const borders = `border-top:${top ? line : 0};border-left:${left ? line : 0};`;
  return `<td style="${cell}${borders}${more}${styles[style] ?? ''}">${inside}</td>\n`;
}

/** A list becomes a table, anything else its text. */
function inside(value: Value, style: string): string {
  return Array.isArray(value) ? `\n${table(value, style)}` : escaped(pyStr(value));
}

function tableRow(item: Value, style: string, top: boolean): string {
  const padding = (value: Value): string => (Array.isArray(value) ? 'padding:0;' : '');
  if (!isDict(item)) return td(inside(item, style), style, { top, left: false, more: padding(item) });
  const entries = dictEntries(item);
  const own = entries.find(([name]) => name === '__style__')?.[1];
  const inner = typeof own === 'string' ? own : style;
  const [name, value] = entries.find(([key]) => key !== '__style__') ?? ['', ''];
  return (
    td(escaped(pyStr(name)), inner, { top, left: false, more: 'width:70pt;' }) +
    td(inside(value, inner), inner, { top, left: true, more: padding(value) })
  );
}

function table(items: readonly Value[], style: string): string {
  const rows = items.map((item, i) => `<tr>\n${tableRow(item, style, i > 0)}</tr>\n`);
  return `<table style="border-collapse:collapse;width:100%;">\n${rows.join('')}</table>\n`;
}

export const htmlReport = (rows: readonly Value[]): string => `<html>\n<body>\n${table(rows, '')}</body>\n</html>\n`;
