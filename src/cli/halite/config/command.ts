// `halite config`: which value an option of this machine has, and where it comes from.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { newDict, type Value } from '../../../base/codec/value.ts';
import { dumpYaml } from '../../../base/codec/yaml/index.ts';
import { loadMasterConfig, loadMinionConfig } from '../../../base/config/index.ts';
import { masterOptions, minionOptions } from '../../../base/config/options/index.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { isSecretName, redact, secretMask } from '../../../base/log/redact.ts';
import { exitCodes } from '../../../base/util/exit-codes.ts';
import { hasGlob, matchesGlob } from '../../../base/util/fnmatch.ts';
import { nearest } from '../../../base/util/nearest.ts';
import type { Terminal } from '../../io.ts';
import { type FileLine, type OptionOrigin, Origins } from './origin.ts';

export interface ConfigRequest {
  readonly configDir: string;
  /** Options or globs; all that the files set when there is none. */
  readonly words: readonly string[];
  readonly io: Terminal;
  /** With `--out`: the findings as data. */
  readonly show?: ((data: Value) => Promise<void>) | undefined;
}

const has = (configDir: string, role: string): boolean =>
  existsSync(join(configDir, role)) || existsSync(join(configDir, `${role}.d`));

function daemonsOf(configDir: string): Origins[] {
  const found: Origins[] = [];
  if (has(configDir, 'master')) found.push(new Origins('master', loadMasterConfig({ configDir }), masterOptions));
  if (has(configDir, 'minion')) found.push(new Origins('minion', loadMinionConfig({ configDir }), minionOptions));
  if (found.length > 0) return found;
  throw new HaliteError('config.missing', `There is neither a master nor a minion configuration in ${configDir}`, {
    hint: 'Name its folder with -c.',
  });
}

/** The options that a word means; undefined when it is the name of none. */
function optionsFor(origins: Origins, word: string): OptionOrigin[] | undefined {
  if (hasGlob(word))
    return origins.all.filter((name) => matchesGlob(name, word)).map((name) => hidden(origins.of(name)));
  const found = origins.of(word);
  return found.known || found.value !== undefined ? [found] : undefined;
}

/** In a list secrets are not shown: it may be pasted into a report. An option that was named is. */
function hidden(found: OptionOrigin): OptionOrigin {
  if (found.value === undefined || found.value === null || found.value === '') return found;
  const value = isSecretName(found.option) ? secretMask : (redact(found.value) as Value);
  return { ...found, value };
}

/** The exit status. */
export async function showConfig({ configDir, words, io, show }: ConfigRequest): Promise<number> {
  const daemons = daemonsOf(configDir);
  const unknown = words.filter((word) => daemons.every((origins) => optionsFor(origins, word) === undefined));
  for (const word of unknown) {
    const meant = nearest(
      word,
      daemons.flatMap((origins) => origins.all),
    );
    io.err(`ERROR: There is no option '${word}', and no file sets it.\n${meant ? `Did you mean '${meant}'?\n` : ''}`);
  }
  const lists = daemons.map((origins) =>
    words.length === 0
      ? origins.given.map((name) => hidden(origins.of(name)))
      : words.flatMap((word) => optionsFor(origins, word) ?? []),
  );
  const found = lists.flat();
  if (show) await show(found.map(asValue));
  else if (words.length > 0 && !words.some(hasGlob)) io.out(found.map(detailed).join('\n'));
  else
    io.out(
      lists
        .filter((list) => list.length > 0)
        .map(table)
        .join('\n'),
    );
  return unknown.length > 0 ? exitCodes.generic : exitCodes.ok;
}

const placeText = ({ file, line }: FileLine): string => `${file}:${line}`;
const oneLine = (value: Value | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? (value === '' ? "''" : value) : yaml(value, true);
const yaml = (value: Value, flow: boolean): string =>
  dumpYaml(value, { flow })
    .replace(/\n\.\.\.\n?$/, '')
    .trimEnd();

function originText({ origin, places, problem }: OptionOrigin): string {
  const refused = problem !== undefined && origin !== 'file' && places.length > 0;
  if (refused) return `${origin}; the value in ${placeText(places.at(-1)!)} is refused`;
  if (origin === 'file') return placeText(places.at(-1)!);
  return { default: 'default', computed: 'from this machine or other options', unset: 'not set, no default' }[origin];
}

/** Everything about one option. */
function detailed(found: OptionOrigin): string {
  const { daemon, option, value, places, problem } = found;
  const long = value !== null && typeof value === 'object' && yaml(value, true).length > 60;
  const shown = long
    ? `\n${yaml(value, false).replace(/^/gm, '    ')}`
    : ` ${value === undefined ? '(not set)' : oneLine(value)}`;
  const isMap = value !== null && typeof value === 'object' && !Array.isArray(value);
  const others = places.slice(0, -1).map(placeText).join(', ');
  const lines = [
    `${daemon}  ${option}:${shown}`,
    `    from: ${originText(found)}`,
    ...(others === ''
      ? []
      : [`    also set in ${others}${isMap ? '; maps of included files are joined' : ', which does not count'}`]),
    ...(found.origin === 'file' && found.default !== undefined ? [`    default: ${oneLine(found.default)}`] : []),
    ...(problem === undefined ? [] : [`    problem: ${problem}`]),
  ];
  return `${lines.join('\n')}\n`;
}

const widest = 44;

/** One line for each option. */
function table(list: readonly OptionOrigin[]): string {
  const values = list.map((found) => {
    const text = found.value === undefined ? '-' : oneLine(found.value).replaceAll('\n', ' ');
    return text.length > widest ? `${text.slice(0, widest - 1)}…` : text;
  });
  const nameWidth = Math.max(...list.map(({ option }) => option.length));
  const valueWidth = Math.max(...values.map((text) => text.length));
  const lines = list.map(
    (found, index) =>
      `  ${found.option.padEnd(nameWidth)}  ${values[index]!.padEnd(valueWidth)}  ${originText(found)}${found.problem === undefined ? '' : '  (!)'}`,
  );
  return `${list[0]!.daemon}\n${lines.join('\n')}\n`;
}

function asValue(found: OptionOrigin): Value {
  const last = found.places.at(-1);
  return newDict([
    ['daemon', found.daemon],
    ['option', found.option],
    ['value', found.value ?? null],
    ['origin', found.origin],
    ['file', last?.file ?? null],
    ['line', last?.line ?? null],
    ['also', found.places.slice(0, -1).map(placeText)],
    ['default', found.default ?? null],
    ['known', found.known],
    ['problem', found.problem ?? null],
  ]);
}
