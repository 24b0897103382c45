// All results of a job as a file: page by page from the master, at the speed of the reader.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { dumpYaml } from '../../base/codec/yaml/index.ts';
import { written } from '../events/writer.ts';
import { portable } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import type { MasterSession } from '../master.ts';
import { argsOf } from './route.ts';
import { csvLine, jsonText, tableOf } from './send.ts';

type Format = 'json' | 'csv' | 'yaml' | 'txt';

const pageRows = 100;
/** More than any job has. */
const mostRows = 1_000_000;

interface Writer {
  readonly type: string;
  readonly begin: string;
  row(row: PlainDict, first: boolean): string;
  readonly end: string;
}

const fields = ['id', 'verdict', 'retcode', 'received', 'return', 'reason'];
const shown = (row: PlainDict): [string, Value][] => fields.slice(1).map((name) => [name, row[name] ?? null]);

const writers: Readonly<Record<Format, Writer>> = {
  json: {
    ...{ type: 'application/json', begin: '{', end: '}\n' },
    row: (row, first) => `${first ? '' : ',\n'}${jsonText(row['id'] ?? '')}: ${jsonText(newDict(shown(row)))}`,
  },
  csv: {
    ...{ type: 'text/csv; charset=utf-8', begin: csvLine(fields), end: '' },
    row: (row) => csvLine(fields.map((name) => (name === 'return' ? returnText(row) : (row[name] ?? null)))),
  },
  yaml: {
    ...{ type: 'application/yaml; charset=utf-8', begin: '', end: '' },
    row: (row) => dumpYaml(portable(new Map<Value, Value>([[row['id'] ?? '', newDict(shown(row))]])), { flow: false }),
  },
  txt: {
    ...{ type: 'text/plain; charset=utf-8', begin: '', end: '' },
    row: (row) => `${String(row['id'])}:\n${indented(returnText(row) || String(row['reason'] ?? ''))}\n`,
  },
};

function returnText(row: PlainDict): string {
  const value = row['return'] ?? null;
  if (typeof value === 'string') return value;
  return value === null ? '' : dumpYaml(portable(value), { flow: false }).trimEnd();
}

const indented = (text: string): string => text.replace(/^/gm, '    ');

export async function exportReturns(
  exchange: Exchange,
  session: MasterSession,
  args: Readonly<Record<string, Value | undefined>>,
  format: Format,
): Promise<void> {
  const writer = writers[format];
  const { response } = exchange;
  const first = Number(args['offset'] ?? 0);
  const last = args['limit'] === undefined ? mostRows : first + Number(args['limit']);
  let begun = false;
  let rows = 0;
  for (let offset = first; !begun || offset < last; offset += pageRows) {
    // The first page is asked for in any case: it may be refused.
    const limit = Math.max(0, Math.min(pageRows, last - offset));
    const page = tableOf(await session.one('job-returns', argsOf({ ...args, offset, limit, whole: true })));
    if (!begun) {
      begun = true;
      response.writeHead(200, {
        'Content-Type': writer.type,
        'Content-Disposition': `attachment; filename="${String(args['jid'])}.${format}"`,
        'Cache-Control': 'private, no-store',
      });
      if (writer.begin !== '') response.write(writer.begin);
    }
    for (const cells of page.rows) {
      const row = newDict(page.cols.map((name, at) => [String(name), cells[at] ?? null]));
      if (!(await written(response, writer.row(row, rows++ === 0)))) {
        response.destroy();
        return;
      }
    }
    if (page.rows.length < limit || limit === 0) break;
  }
  response.end(writer.end);
}
