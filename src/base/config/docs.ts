// The reference of the options: descriptions as data, and the pages of docs/reference.
import { masterTopics, minionTopics, type Topic } from './options/index.ts';
import type { DefaultValue, OptionRow } from './options/row.ts';
import { typeText } from './validate.ts';

export type Daemon = 'master' | 'minion';

export interface OptionDescription {
  readonly name: string;
  readonly topic: string;
  readonly type: string;
  /** As YAML, or a description when it depends on the machine; empty when there is none. */
  readonly default: string;
  readonly doc: string;
  readonly since: string;
  readonly until: string;
  readonly reload: boolean;
}

const topicsOf: Readonly<Record<Daemon, readonly Topic[]>> = { master: masterTopics, minion: minionTopics };

/** Every option of a daemon, in the order of the reference. */
export function describeOptions(daemon: Daemon): OptionDescription[] {
  return topicsOf[daemon].flatMap(({ title, rows }) =>
    rows.map((row) => ({
      name: row.name,
      topic: title,
      type: typeText(row),
      default: defaultText(row),
      doc: row.doc,
      since: row.since ?? '',
      until: row.until ?? '',
      reload: row.reload === true,
    })),
  );
}

function defaultText(row: OptionRow): string {
  if (row.computed) return row.computed;
  const value = row.default === undefined ? row.assumed : row.default;
  return value === undefined ? '' : `\`${yamlText(value)}\``;
}

function yamlText(value: DefaultValue): string {
  return value === '' ? "''" : typeof value === 'string' ? value : JSON.stringify(value);
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** One page of the reference: a section per topic, a table row per option. */
export function renderOptionsPage(daemon: Daemon): string {
  const described = describeOptions(daemon);
  const titles = topicsOf[daemon].map((topic) => topic.title);
  const lines = [
    `# Options of the ${daemon}`,
    '',
    '<!-- Generated from src/base/config/options; change the tables and run `npm run docs`. -->',
    '',
    `The ${described.length} options that \`/etc/salt/${daemon}\`, \`/etc/salt/${daemon}.d/*.conf\` and included files may set.`,
    'Names, types and defaults are those of Salt 3008 unless the text says otherwise. An option without default is absent',
    'until a file sets it. Types: *number* is a count of seconds, whole or fractional, where the text names no other unit.',
    '',
    ...titles.map((title) => `- [${title}](#${anchor(title)})`),
  ];
  for (const title of titles) {
    lines.push('', `## ${title}`, '', '| Option | Type | Default | Meaning |', '| --- | --- | --- | --- |');
    for (const option of described.filter((item) => item.topic === title)) lines.push(rowText(option));
  }
  return `${lines.join('\n')}\n`;
}

const anchor = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');

function rowText(option: OptionDescription): string {
  const notes: string[] = [];
  if (option.since) notes.push(`Since ${/^\d/.test(option.since) ? 'Salt ' : ''}${option.since}.`);
  if (option.until) notes.push(`Until Salt ${option.until}.`);
  if (option.reload) notes.push('Taken over without restart.');
  const doc = [option.doc, ...notes].join(' ');
  return `| \`${option.name}\` | ${option.type} | ${cell(option.default)} | ${cell(doc)} |`;
}
