// The state results of one host, and nested results: orchestrations and results of other hosts.
import { type Dict, dictEntries, dictGet, dictHas, isDict, isTruthy, pyStr, type Value } from 'halite/sdk';
import { pprintValue } from 'halite/sdk/codec';
import { rstrip, splitLines } from 'halite/sdk/text';
import { stripEscapes } from '../../../shared/output/colors.ts';
import { nestedLines } from '../../../shared/output/nested-lines.ts';
import { compressedCount, compressIds, rolledUpChanges } from './compress.ts';
import { fullLines } from './full.ts';
import { durationOf, inRunOrder, part, readResult, type StateResult, unfit, warningsOf } from './result.ts';
import type { HighstateStyle } from './style.ts';
import { newTally, summaryLines, type Tally } from './summary.ts';
import { terseLine } from './terse.ts';

const orchestrations = new Set<Value>(['state.orch', 'state.orchestrate', 'state.sls']);
const noOrder =
  'The State execution failed to record the order in which all states were executed. ' +
  'The state return missing data is:';

const isInteger = (value: Value): boolean =>
  typeof value === 'boolean' || typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));

/** All hosts of a result, without the envelopes of runners and job lookups. */
export function renderHosts(given: Value, style: HighstateStyle, level: number): string {
  let data = unwrap(given);
  if (typeof data === 'string') return data;
  if (data === null) return 'None';
  if (!isDict(data)) throw unfit('no hosts');
  const masters = dictEntries(data).filter(([key]) => {
    if (typeof key !== 'string') throw unfit('host');
    return key.endsWith('_master');
  });
  const orchestrated = masters.length === 1 && dictHas(data, 'retcode');
  if (orchestrated) data = new Map(dictEntries(data).filter(([key]) => key !== 'retcode'));
  if (style.compressIds) data = compressIds(data);
  return dictEntries(data)
    .map(([host, results]) => renderHost(pyStr(host), results, style, level).text)
    .join('\n');
}

function unwrap(given: Value): Value {
  let data = given;
  for (const envelope of ['return', 'data']) {
    if (isDict(data) && dictHas(data, envelope)) data = dictGet(data, envelope) ?? null;
  }
  if (!isDict(data)) return data;
  const [only, ...more] = dictEntries(data);
  const inner = only?.[1];
  if (more.length > 0 || inner === undefined || !isDict(inner)) return data;
  if (!dictHas(inner, 'jid') || !dictHas(inner, 'fun')) return data;
  const kept = dictGet(inner, 'return');
  if (kept === undefined) return data;
  if (!isDict(kept)) throw unfit('return');
  return dictGet(kept, 'data') ?? data;
}

function renderHost(
  host: string,
  data: Value,
  style: HighstateStyle,
  level: number,
): { text: string; changed: boolean } {
  const { colors } = style;
  const name = style.strip ? stripEscapes(host) : host;
  const done = (color: string, lines: string[], changed: boolean) => ({
    text: [`${color}${name}:${colors.ENDC}`, ...lines].join('\n'),
    changed,
  });
  if (typeof data === 'string' || isInteger(data)) {
    // What saltmod.function returns is always a change.
    const lines = typeof data === 'string' ? splitLines(data) : [pyStr(data)];
    return done(
      colors.CYAN,
      lines.map((line) => `${colors.GREEN}    ${line}${colors.ENDC}`),
      true,
    );
  }
  if (Array.isArray(data)) return done(colors.LIGHT_RED, errorLines(data, style), false);
  if (!isDict(data)) return done(colors.GREEN, [], false);
  const view = new HostView(style, level);
  const lines = [...view.disorder(data), ...view.states(data)];
  lines.push(...summaryLines(host, view.tally, style));
  return done(view.color, lines, view.tally.changed > 0);
}

function errorLines(errors: readonly Value[], style: HighstateStyle): string[] {
  const { colors } = style;
  const shown = (error: Value): string =>
    style.strip && typeof error === 'string' ? stripEscapes(error) : pyStr(error);
  return [
    `    ${colors.LIGHT_RED}Data failed to compile:${colors.ENDC}`,
    ...errors.map((error) => `${colors.LIGHT_RED}----------\n    ${shown(error)}${colors.ENDC}`),
  ];
}

/** Shows the states of one host and keeps count. */
class HostView {
  readonly tally: Tally = newTally();
  /** The colour of the host's name: the last failure or difference decides. */
  color: string;
  readonly #style: HighstateStyle;
  readonly #level: number;

  constructor(style: HighstateStyle, level: number) {
    this.#style = style;
    this.#level = level;
    this.color = style.colors.GREEN;
  }

  /** Errors about entries without a run number, the last one first as in Salt. */
  disorder(data: Dict): string[] {
    const lines: string[] = [];
    for (const [tag, info] of dictEntries(data)) {
      if (!isDict(info) || tag === 'changes' || !isTruthy(info) || dictHas(info, '__run_num__')) continue;
      lines.unshift(noOrder, pprintValue(info));
    }
    return lines;
  }

  states(data: Dict): string[] {
    const results: [string, Dict][] = [];
    for (const [tag, info] of dictEntries(data)) {
      if (isDict(info) && dictHas(info, 'result')) results.push([pyStr(tag), info]);
    }
    return inRunOrder(results).flatMap(([tag, info]) => this.#state(readResult(tag, info)));
  }

  #state(state: StateResult): string[] {
    const style = this.#style;
    const { colors } = style;
    this.#count(state);
    const { changed, text } = this.#changes(state);
    const quiet = isTruthy(state.result) && !changed;
    if (quiet && (style.onlyChanged || !style.verbose)) return [];
    let color = changed ? colors.CYAN : colors.GREEN;
    if (state.result === false) color = this.color = colors.RED;
    if (state.result === null) color = this.color = colors.LIGHT_YELLOW;
    const parts = style.mode.endsWith('_id')
      ? [part(state.parts, 0), part(state.parts, 1), part(state.parts, 1), ...state.parts.slice(3)]
      : state.parts;
    const look = this.#look(state, changed);
    if (look === 'hidden') return [];
    if (look === 'terse') return [terseLine(state, parts, color, style)];
    if (warningsOf(state.info)) this.tally.warnings++;
    return fullLines(state, parts, color, text, style);
  }

  #look(state: StateResult, changed: boolean): 'full' | 'terse' | 'hidden' {
    const { mode, terse, exclude } = this.#style;
    if (mode.startsWith('filter')) {
      const word = pyStr(state.result);
      if (terse.includes(word)) return 'terse';
      return exclude.includes(word) ? 'hidden' : 'full';
    }
    if (mode.startsWith('terse')) return 'terse';
    if (mode.startsWith('mixed') && state.result !== false) return 'terse';
    return mode.startsWith('changes') && isTruthy(state.result) && !changed ? 'terse' : 'full';
  }

  #count(state: StateResult): void {
    const { tally } = this;
    const { result } = state;
    const key = result === null ? 'none' : typeof result === 'boolean' ? String(result) : pyStr(result);
    const times = this.#style.compressIds ? compressedCount(state.tag) : 1;
    tally.results.set(key, (tally.results.get(key) ?? 0) + times);
    const ms = durationOf(state.info);
    if (ms === undefined) return;
    if (dictHas(state.info, '__parallel__')) tally.parallel = Math.max(tally.parallel, ms);
    else tally.serial += ms;
  }

  #changes(state: StateResult): { changed: boolean; text: string } {
    const { changes } = state;
    if (orchestrations.has(dictGet(state.info, 'name') ?? null)) {
      const nested = renderHosts(changes, this.#style, this.#level + 1);
      this.tally.changed++;
      const margin = ' '.repeat(14 * this.#level);
      return { changed: true, text: `${margin}\n${margin}${nested.replaceAll('\n', `\n${margin}`)}` };
    }
    const shown = this.#format(changes);
    if (!shown.changed) return shown;
    const rolledUp = this.#style.compressIds && compressedCount(state.tag) > 1;
    this.tally.changed += rolledUp ? rolledUpChanges(changes) : 1;
    return shown;
  }

  #format(changes: Value): { changed: boolean; text: string } {
    if (!isTruthy(changes)) return { changed: false, text: '' };
    if (!isDict(changes)) return { changed: true, text: `Invalid Changes data: ${pyStr(changes)}` };
    const hosts = dictGet(changes, 'ret') ?? null;
    if (hosts === null || dictGet(changes, 'out') !== 'highstate') {
      const style = { colors: this.#style.colors, strip: this.#style.strip, retcode: 0 };
      return { changed: true, text: `\n${rstrip(nestedLines(changes, style, 14).join('\n'))}` };
    }
    if (!isDict(hosts)) throw unfit('ret');
    const rendered = dictEntries(hosts).map(([host, data]) => renderHost(pyStr(host), data, this.#style, 1));
    const indented = rendered.map(
      ({ text }) =>
        `\n${splitLines(text)
          .map((line) => `${' '.repeat(14)}${line}`)
          .join('\n')}`,
    );
    return { changed: rendered.some(({ changed }) => changed), text: indented.join('') };
  }
}
