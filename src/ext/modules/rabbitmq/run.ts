// Runs rabbitmqctl and reads its tables.
import { commandError, type ModuleContext, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { lines } from 'halite/sdk/text';
import { type Answer, command } from '../shared/command.ts';

/** Runs a tool of the server, on request as another user. Its command line is not logged, because it contains passwords. */
export const ask = (
  ctx: ModuleContext,
  args: readonly string[],
  runas: string | null,
  tool = 'rabbitmqctl',
): Promise<Answer> =>
  command(ctx, [tool, ...args], { reset_system_locale: false, output_loglevel: 'quiet', runas: runas || null });

/** The output, if the tool succeeded and printed no error. */
export function good(answer: Answer): string {
  if (answer.retcode !== 0 || answer.stderr) throw commandError(`RabbitMQ command failed: ${answer.stderr}`);
  return answer.stdout;
}

/** The output of the tool, under a key of Salt. */
export const outcome = (answer: Answer, word: string): PlainDict => newDict([[word, good(answer)]]);

/** Rows of data: no headings, warnings or end marks. */
export const rows = (text: string): string[] =>
  lines(text).filter(
    (line) =>
      line !== '' &&
      !(line.startsWith('Listing') && (line.endsWith('...') || !line.includes('\t'))) &&
      !line.includes('...done') &&
      !line.startsWith('WARNING:'),
  );

/** First column → what a function makes of the others. */
export function table(text: string, read: (rest: string) => Value = (rest) => rest.split('\t')): PlainDict {
  return newDict(
    rows(text).map((row) => {
      const at = row.indexOf('\t');
      return at < 0 ? [row, ''] : [row.slice(0, at), read(row.slice(at + 1))];
    }),
  );
}

/** `[admin, monitoring]` as a list. */
export function tagList(text: string): string[] {
  const inner = text.slice(1, -1);
  return inner.includes(',') ? inner.split(',').map((tag) => tag.trim()) : inner.split(' ');
}

/** JSON rows by one of their fields, which is removed from the row. */
export function keyed(text: string, key: string): PlainDict {
  const list = JSON.parse(text) as Record<string, Value>[];
  return newDict(
    list.map((row) => [pyStr(row[key] ?? ''), newDict(Object.entries(row).filter(([name]) => name !== key))]),
  );
}
