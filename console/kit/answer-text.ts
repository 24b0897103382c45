// Answers as the terminal shows them: results of states as blocks with a summary, other data indented below its keys.
import { isFields, numberOf, textOf } from '../api/read.ts';

/** The text of one minion's answer, without its name above. */
export function answerText(id: string, answer: unknown): string {
  return isStateRun(answer) ? stateText(id, answer) : nested(answer, 0).join('\n');
}

type Results = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function isStateRun(answer: unknown): answer is Results {
  if (!isFields(answer)) return false;
  const entries = Object.entries(answer);
  return entries.length > 0 && entries.every(([key, value]) => key.split('_|-').length === 4 && isFields(value));
}

const scalar = (value: unknown): string =>
  value === null || value === undefined ? 'None' : value === true ? 'True' : value === false ? 'False' : String(value);

function nested(value: unknown, indent: number, mark = ''): string[] {
  const margin = ' '.repeat(indent);
  if (typeof value === 'string')
    return value
      .replace(/\n$/, '')
      .split('\n')
      .map((line, at) => `${margin}${at === 0 ? mark : ' '.repeat(mark.length)}${line}`);
  if (Array.isArray(value))
    return value.flatMap((item: unknown) =>
      typeof item === 'object' && item !== null
        ? [`${margin}|_`, ...nested(item, indent + 2, Array.isArray(item) ? '- ' : '')]
        : nested(item, indent, '- '),
    );
  if (!isFields(value)) return [`${margin}${mark}${scalar(value)}`];
  const lines = Object.keys(value)
    .sort()
    .flatMap((key) => [`${margin}${mark}${key}:`, ...nested(value[key], indent + 4)]);
  return indent > 0 ? [`${margin}----------`, ...lines] : lines;
}

const paint = (code: number, text: string): string => `\x1b[${code}m${text}\x1b[0m`;
const [red, green, yellow, cyan] = [31, 32, 33, 36] as const;

interface Tally {
  readonly total: number;
  readonly failed: number;
  readonly planned: number;
  readonly changed: number;
  readonly ms: number;
}

function stateText(id: string, results: Results): string {
  const entries = Object.entries(results).sort(
    ([, a], [, b]) => (numberOf(a['__run_num__']) ?? 0) - (numberOf(b['__run_num__']) ?? 0),
  );
  const states = entries.map(([, state]) => state);
  const tally: Tally = {
    total: states.length,
    failed: states.filter(({ result }) => result === false).length,
    planned: states.filter(({ result }) => result === null).length,
    changed: states.filter(({ changes }) => isFields(changes) && Object.keys(changes).length > 0).length,
    ms: states.reduce((sum, { duration }) => sum + (Number.parseFloat(textOf(duration)) || 0), 0),
  };
  return [...entries.map(([tag, state]) => stateBlock(tag, state)), summary(id, tally)].join('\n');
}

const margin = ' '.repeat(14);

function stateBlock(tag: string, state: Readonly<Record<string, unknown>>): string {
  const [module = '', id = '', name = '', fun = ''] = tag.split('_|-');
  const { result, comment, changes } = state;
  const changed = isFields(changes) && Object.keys(changes).length > 0;
  const lines = ['----------', `          ID: ${id}`, `    Function: ${module}.${fun}`];
  if (id !== name) lines.push(`        Name: ${name}`);
  lines.push(
    `      Result: ${scalar(result)}`,
    `     Comment: ${textOf(comment).trim().replaceAll('\n', `\n${margin}`)}`,
  );
  if ('start_time' in state)
    lines.push(`     Started: ${textOf(state['start_time'])}`, `    Duration: ${textOf(state['duration'])} ms`);
  lines.push(`     Changes:   ${changed ? `\n${nested(changes, 14).join('\n').trimEnd()}` : ''}`);
  return paint(result === false ? red : result === null ? yellow : changed ? cyan : green, lines.join('\n'));
}

function summary(id: string, { total, failed, planned, changed, ms }: Tally): string {
  const width = 11 + Math.max(1, String(total - failed).length, String(failed).length);
  const row = (label: string, value: number): string => `${label}: ${String(value).padStart(width - label.length - 2)}`;
  const notes = [planned > 0 && `unchanged=${planned}`, changed > 0 && `changed=${changed}`].filter(Boolean).join(', ');
  const [time, unit] = ms > 999 ? [ms / 1000, 's'] : [ms, 'ms'];
  return [
    `\nSummary for ${id}`,
    '-'.repeat(width),
    `${row('Succeeded', total - failed)}${notes === '' ? '' : ` (${notes})`}`,
    row('Failed', failed),
    '-'.repeat(width),
    `Total states run: ${String(total).padStart(width - 7)}`,
    `Total run time: ${time.toFixed(3).padStart(width - 5)} ${unit}`,
  ].join('\n');
}
