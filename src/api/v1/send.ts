// Answers of our own API: JSON with an ETag, lists as tables, exports of results.
import { createHash } from 'node:crypto';
import { dumpJson } from '../../base/codec/json/index.ts';
import { asList, asPlainDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { portable } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';

export const jsonText = (value: Value): string => dumpJson(portable(value), { ensureAscii: false });

/** What has not changed is not sent again. */
export function sendJson(exchange: Exchange, value: Value, status = 200, headers: Record<string, string> = {}): void {
  const bytes = Buffer.from(jsonText(value));
  const all: Record<string, string> = {
    'Content-Type': 'application/json',
    'Cache-Control': 'private, no-cache',
    ...headers,
  };
  if (status === 200 && (exchange.method === 'GET' || exchange.method === 'HEAD')) {
    const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
    all['ETag'] = tag;
    if (hasTag(exchange, tag)) {
      exchange.response.writeHead(304, all).end();
      return;
    }
  }
  exchange.sendRaw({ status, bytes, headers: all });
}

function hasTag({ request }: Exchange, tag: string): boolean {
  const given = request.headers['if-none-match'];
  return given?.split(',').some((each) => each.trim().replace(/^W\//, '') === tag) ?? false;
}

export function sendNothing(exchange: Exchange, headers: Record<string, string> = {}): void {
  exchange.response.writeHead(204, headers).end();
}

export function sendList(exchange: Exchange, page: Value, format: string | undefined): void {
  if (format !== 'csv') {
    sendJson(exchange, page);
    return;
  }
  const { cols, rows } = tableOf(page);
  const text = [cols, ...rows].map(csvLine).join('');
  exchange.sendRaw({
    bytes: Buffer.from(text),
    headers: { 'Content-Type': 'text/csv; charset=utf-8', 'Cache-Control': 'private, no-cache' },
  });
}

export function tableOf(page: Value): { readonly cols: Value[]; readonly rows: Value[][] } {
  const found: PlainDict | undefined = asPlainDict(page);
  return {
    cols: asList(found?.['cols']) ?? [],
    rows: (asList(found?.['rows']) ?? []).map((row) => asList(row) ?? []),
  };
}

export const csvLine = (cells: readonly Value[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** Spreadsheets run texts that begin like formulas. */
function csvCell(cell: Value): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' ? cell.replace(/^[=+\-@\t\r]/, "'$&") : jsonText(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
