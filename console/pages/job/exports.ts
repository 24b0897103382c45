// Answers as files, and lists of minions.

import type { Query } from '../../api/http.ts';
import { answerRow, answers, answersText } from '../../api/jobs.ts';
import { saveFile } from '../../kit/basics.tsx';

const pageSize = 1000;
const most = 100_000;

/** All ids that a filter finds. */
export async function answerIds(jid: string, filter: Query): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let offset = 0; offset < most; offset += pageSize) {
    const page = await answers(jid, { ...filter, offset, limit: pageSize });
    ids.push(...page.rows.map((row) => answerRow(row).id));
    if (offset + pageSize >= page.total) break;
  }
  return ids;
}

export const exportFormats = ['json', 'csv', 'yaml', 'txt'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const types: Readonly<Record<ExportFormat, string>> = {
  json: 'application/json',
  csv: 'text/csv',
  yaml: 'application/yaml',
  txt: 'text/plain',
};

export async function exportAnswers(jid: string, format: ExportFormat, filter: Query): Promise<void> {
  saveFile(`${jid}.${format}`, await answersText(jid, { ...filter, format }), types[format]);
}

export async function exportNames(jid: string, filter: Query): Promise<void> {
  saveFile(`${jid}-minions.txt`, `${(await answerIds(jid, filter)).join('\n')}\n`);
}
