// A job as the form describes it, and the same as a line of a shell.
import type { Publish } from '../../api/jobs.ts';

export const targetTypes = ['glob', 'list', 'grain', 'compound', 'pcre', 'nodegroup', 'ipcidr', 'pillar'] as const;
export type TargetType = (typeof targetTypes)[number];

const targetOptions: Readonly<Record<TargetType, string>> = {
  glob: '',
  list: '-L ',
  grain: '-G ',
  compound: '-C ',
  pcre: '-E ',
  nodegroup: '-N ',
  ipcidr: '-S ',
  pillar: '-I ',
};

export interface JobForm {
  readonly tgt: string;
  readonly type: TargetType;
  readonly fun: string;
  /** Words as they would be typed behind the function. */
  readonly words: readonly string[];
  readonly batch: string;
  readonly deadline: string;
  readonly durable: string;
  readonly require: string;
}

/** Quotes only what the shell would change. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

export function commandLine({ tgt, type, fun, words, batch, deadline, durable, require }: JobForm): string {
  const options = [
    batch && `-b ${shellWord(batch)} `,
    deadline && `--deadline=${shellWord(deadline)} `,
    durable && `--durable=${shellWord(durable)} `,
    require && `--require=${shellWord(require)} `,
  ].join('');
  return `salt ${options}${targetOptions[type]}${shellWord(tgt)} ${fun}${words.map((each) => ` ${shellWord(each)}`).join('')}`;
}

/** The words of a line, as a shell splits them: quotes keep spaces, a backslash keeps the next character. */
export function splitWords(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (quote !== '') {
      if (character === quote) quote = '';
      else if (character === '\\' && quote === '"' && at + 1 < line.length) word += line[++at]!;
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (character === '\\' && at + 1 < line.length) word = (word ?? '') + line[++at]!;
    else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}

/** Values as the command line reads them: numbers, truth, JSON; everything else is text. */
function argumentValue(word: string): unknown {
  if (/^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(word)) return Number(word);
  if (/^(true|false)$/i.test(word)) return word.toLowerCase() === 'true';
  if (/^(null|none|~)$/i.test(word)) return null;
  if (/^[[{]/.test(word)) {
    try {
      return JSON.parse(word);
    } catch {
      return word;
    }
  }
  return word;
}

/** `name=value` with a plain name is a keyword argument, as on the command line. */
export function argumentsOf(words: readonly string[]): Pick<Publish, 'arg' | 'kwarg'> {
  const arg: unknown[] = [];
  const kwarg: Record<string, unknown> = {};
  for (const word of words) {
    const found = /^([A-Za-z_]\w*)=(.*)$/s.exec(word);
    if (found) kwarg[found[1]!] = argumentValue(found[2]!);
    else arg.push(argumentValue(word));
  }
  return { arg, kwarg };
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `30`, `10m`, `24h` in seconds. */
export function secondsOf(text: string): number | undefined {
  const found = /^(\d{1,8})([smhd]?)$/.exec(text.trim());
  return found ? Number(found[1]) * (unitSeconds[found[2] || 's'] ?? 1) : undefined;
}

export function publishOf({ tgt, type, fun, words, batch, deadline, durable, require }: JobForm): Publish {
  const [ends, waits] = [secondsOf(deadline), secondsOf(durable)];
  return {
    ...{ tgt, tgt_type: type, fun, ...argumentsOf(words) },
    ...(batch === '' ? {} : { batch: { size: batch } }),
    ...(ends === undefined ? {} : { deadline: ends }),
    ...(waits === undefined ? {} : { durable: waits }),
    ...(require === '' ? {} : { require }),
  };
}
