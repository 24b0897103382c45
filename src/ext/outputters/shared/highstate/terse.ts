// States in one line each.
import { dictGet, dictHas, pyStr } from 'halite/sdk';
import { formatWith } from '../py-format.ts';
import { need, part, resultWord, type StateResult, warningsOf } from './result.ts';
import type { HighstateStyle } from './style.ts';

/** `parts` may have the id in place of the name. */
export function terseLine(state: StateResult, parts: readonly string[], color: string, style: HighstateStyle): string {
  const { colors, tabular } = style;
  const { info } = state;
  const result = resultWord(state);
  const [module, name, fun] = [part(parts, 0), part(parts, 2), parts.at(-1)!];
  if (typeof tabular === 'string') {
    return formatWith(tabular, [color, name, module, fun, result, colors.ENDC, info]);
  }
  const timed = style.profile && dictHas(info, 'start_time');
  const started = timed ? pyStr(dictGet(info, 'start_time')) : '';
  const took = timed ? pyStr(need(info, 'duration')) : '';
  const warnings = warningsOf(info);
  const warned = warnings ? `${colors.LIGHT_RED}Warnings:\n${warnings.join('\n')}${colors.ENDC}` : '';
  if (tabular) {
    const times = timed ? `${started} [${took.padStart(7)} ms] ` : '';
    const call = `${module.padStart(10)}.${fun.padEnd(10)} ${result.padEnd(7)}   Name: ${name}`;
    return `${warned && `${warned}\n`}${color}${times}${call}${colors.ENDC}`;
  }
  const times = timed ? ` - Started: ${started} - Duration: ${took} ms` : '';
  return `${warned} ${color} Name: ${name} - Function: ${module}.${fun} - Result: ${result}${times}${colors.ENDC}`;
}
