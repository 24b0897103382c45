// The colour theme of Salt's terminal output.
import { type Dict, dictEntries, isDict, isTruthy, type OutputOptions } from 'halite/sdk';

const codes = {
  BLACK: '0;30',
  DARK_GRAY: '0;1;30',
  RED: '0;31',
  LIGHT_RED: '0;1;31',
  GREEN: '0;32',
  LIGHT_GREEN: '0;1;32',
  YELLOW: '0;33',
  LIGHT_YELLOW: '0;1;33',
  BLUE: '0;34',
  LIGHT_BLUE: '0;1;34',
  MAGENTA: '0;35',
  LIGHT_MAGENTA: '0;1;35',
  CYAN: '0;36',
  LIGHT_CYAN: '0;1;36',
  LIGHT_GRAY: '0;37',
  WHITE: '0;1;37',
  DEFAULT_COLOR: '0;39',
  ENDC: '0;0',
} as const;

export type ColorName = keyof typeof codes;
export type Colors = Readonly<Record<ColorName, string>>;

const names = Object.keys(codes) as ColorName[];
const table = (of: (name: ColorName) => string): Colors =>
  Object.fromEntries(names.map((name) => [name, of(name)])) as Record<ColorName, string>;

const plain = table(() => '');
const salt = table((name) => `\x1b[${codes[name]}m`);

/** The codes to use; a theme (name → code, read from `color_theme` by the caller) replaces some of them. */
export function colorsFor(options: OutputOptions): Colors {
  if (!options.color) return plain;
  const theme = options.opts['__color_theme'];
  return isDict(theme) ? themed(theme) : salt;
}

function themed(theme: Dict): Colors {
  const own = new Map(dictEntries(theme).map(([name, code]) => [String(name), `\x1b[${String(code)}m`]));
  return table((name) => own.get(name) ?? salt[name]);
}

/** Escape characters in data must not control the terminal. */
export function stripEscapes(text: string): string {
  return text.includes('\x1b') ? text.replaceAll('\x1b', '?') : text;
}

/** False when the operator allows colours in data. */
export function stripsColors(options: OutputOptions): boolean {
  const setting = options.opts['strip_colors'];
  return setting === undefined || isTruthy(setting);
}
