// The doctor's findings as text: problems first, positive findings last and short.
import type { Finding, Level } from './finding.ts';

const marks: Readonly<Record<Level, string>> = { problem: 'PROBLEM', warning: 'WARNING', fine: 'fine' };
const order: readonly Level[] = ['problem', 'warning', 'fine'];
const width = 'PROBLEM'.length;

export function reportText(findings: readonly Finding[]): string {
  const sorted = order.flatMap((level) => findings.filter((finding) => finding.level === level));
  const lines = sorted.flatMap(({ level, about, what, repair }) => [
    `${marks[level].padEnd(width)}  ${about}: ${what}`,
    ...(repair ? [`${' '.repeat(width)}  repair: ${repair}`] : []),
  ]);
  return `${[...lines, '', summary(findings)].join('\n')}\n`;
}

function summary(findings: readonly Finding[]): string {
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  const of = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;
  return `${of(count('problem'), 'problem')}, ${of(count('warning'), 'warning')}, ${count('fine')} fine`;
}
