// A state as a block of lines.
import { dictGet, dictHas, pyStr } from 'halite/sdk';
import { fillText, strip } from 'halite/sdk/text';
import { commentOf, part, type StateResult, warningsOf } from './result.ts';
import type { HighstateStyle } from './style.ts';

const margin = ' '.repeat(14);

/** The block, and whether it ended with warnings. */
export function fullLines(
  state: StateResult,
  parts: readonly string[],
  color: string,
  changes: string,
  style: HighstateStyle,
): string[] {
  const { colors } = style;
  const { info } = state;
  const line = (text: string): string => `    ${color}${text}${colors.ENDC}`;
  const lines = [
    `${color}----------${colors.ENDC}`,
    line(`      ID: ${part(parts, 1)}`),
    line(`Function: ${part(parts, 0)}.${part(parts, 3)}`),
  ];
  if (parts[1] !== parts[2]) lines.push(line(`    Name: ${part(parts, 2)}`));
  lines.push(line(`  Result: ${pyStr(state.result)}`));
  lines.push(line(` Comment: ${commentOf(info, (text) => strip(text).replaceAll('\n', `\n${margin}`))}`));
  if (style.profile && dictHas(info, 'start_time')) {
    const duration = pyStr(dictGet(info, 'duration') ?? '');
    lines.push(line(` Started: ${pyStr(dictGet(info, 'start_time'))}`));
    lines.push(line(`Duration: ${duration === '' ? '' : `${duration} ms`}`));
  }
  lines.push(`${color}     Changes:   ${changes}${colors.ENDC}`);
  const warnings = warningsOf(info);
  if (warnings) {
    const text = fillText(warnings.join('\n'), 80, margin).trimStart();
    lines.push(`   ${colors.LIGHT_RED} Warnings: ${text}${colors.ENDC}`);
  }
  return lines;
}
