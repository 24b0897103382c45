// Compiles Python's %-style log layouts into a function from record to line.

import { localTime, strftime } from '../util/strftime.ts';
import { type LogMethod, methodLevels, printedLevel } from './levels.ts';

/** The values that a layout can contain, computed only when it does. */
export interface FormatInput {
  readonly time: number;
  readonly method: LogMethod;
  readonly name: string;
  readonly message: string;
  readonly jid: string;
  readonly minionId: string;
  readonly pid: number;
}

export type Layout = (input: FormatInput) => string;

const reset = '\x1b[0;0m';
const levelColors: Readonly<Record<LogMethod, string>> = {
  critical: '\x1b[0;1;31m',
  error: '\x1b[0;1;31m',
  warn: '\x1b[0;1;33m',
  info: '\x1b[0;1;32m',
  profile: '\x1b[0;1;36m',
  debug: '\x1b[0;1;36m',
  trace: '\x1b[0;1;35m',
  garbage: '\x1b[0;1;34m',
};
const messageColors: Readonly<Record<LogMethod, string>> = {
  critical: '\x1b[0;1;31m',
  error: '\x1b[0;31m',
  warn: '\x1b[0;33m',
  info: '\x1b[0;32m',
  profile: '\x1b[0;1;36m',
  debug: '\x1b[0;36m',
  trace: '\x1b[0;35m',
  garbage: '\x1b[0;34m',
};

const started = Date.now();
const bracket = {
  name: (input: FormatInput) => `[${input.name.padEnd(17)}]`,
  level: (input: FormatInput) => `[${printedLevel(input.method).padEnd(8)}]`,
  process: (input: FormatInput) => `[${String(input.pid).padStart(5)}]`,
};
const paint = (color: string, text: string): string => `${color}${text}${reset}`;

type Attribute = (input: FormatInput) => string | number;

/** Python's record attributes and Salt's additions. Source positions are unknown here: 0 and empty. */
const attributes: Readonly<Record<string, Attribute>> = {
  name: (input) => input.name,
  levelno: (input) => methodLevels[input.method],
  levelname: (input) => printedLevel(input.method),
  pathname: () => '',
  filename: () => '',
  module: (input) => input.name.slice(input.name.lastIndexOf('.') + 1),
  lineno: () => 0,
  funcName: () => '',
  created: (input) => input.time / 1000,
  msecs: (input) => input.time % 1000,
  relativeCreated: (input) => input.time - started,
  thread: () => 0,
  threadName: () => 'MainThread',
  process: (input) => input.pid,
  processName: () => 'MainProcess',
  taskName: () => '',
  message: (input) => input.message,
  jid: (input) => input.jid,
  minion_id: (input) => input.minionId,
  bracketname: bracket.name,
  bracketlevel: bracket.level,
  bracketprocess: bracket.process,
  colorname: (input) => paint('\x1b[0;1;32m', bracket.name(input)),
  colorlevel: (input) => paint(levelColors[input.method], bracket.level(input)),
  colorprocess: (input) => paint('\x1b[0;1;34m', bracket.process(input)),
  colormsg: (input) => paint(messageColors[input.method], input.message),
};

const pattern = /%(?:%|\((\w+)\)([#0 +-]*)(\*|\d+)?(?:\.(\*|\d+))?([diouxefgcrsaEGFX]))/gi;

/** Whether Python would accept the layout: at least one attribute, all of them known, no stray percent sign. */
export function isLayout(format: string): boolean {
  const rest = format.replace(pattern, (whole, name: string | undefined) =>
    name === undefined ? '' : name === 'asctime' || Object.hasOwn(attributes, name) ? '\0' : whole,
  );
  return rest.includes('\0') && !rest.includes('%');
}

/** Compiles a layout once. Anything Python would refuse is kept as literal text. */
export function compileLayout(format: string, datefmt: string): Layout {
  const pieces: ((input: FormatInput) => string)[] = [];
  let at = 0;
  for (const match of format.matchAll(pattern)) {
    const literal = format.slice(at, match.index);
    if (literal) pieces.push(() => literal);
    at = match.index + match[0].length;
    pieces.push(chunkOf(match, datefmt));
  }
  const tail = format.slice(at);
  if (tail) pieces.push(() => tail);
  return (input) => {
    let line = '';
    for (const piece of pieces) line += piece(input);
    return line;
  };
}

function chunkOf(match: RegExpMatchArray, datefmt: string): (input: FormatInput) => string {
  const [whole, name, flags = '', width, precision, conversion = 's'] = match;
  if (name === undefined) return () => '%';
  const attribute =
    name === 'asctime' ? clock(datefmt) : Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (!attribute) return () => whole;
  const size = width ? Math.min(Number(width) || 0, 1000) : 0;
  const digits = precision === undefined ? undefined : Math.min(Number(precision) || 0, 100);
  if (!flags && !size && digits === undefined && conversion === 's') return (input) => String(attribute(input));
  return (input) => padTo(convert(attribute(input), conversion, digits, flags), size, flags, conversion);
}

/** The time as text; lines of the same second share it. */
function clock(datefmt: string): Attribute {
  let second = Number.NaN;
  let text = '';
  return (input) => {
    const now = Math.floor(input.time / 1000);
    if (now !== second) {
      second = now;
      text = strftime(localTime(new Date(input.time)), datefmt);
    }
    return text;
  };
}

function convert(value: string | number, conversion: string, digits: number | undefined, flags: string): string {
  if ('sra'.includes(conversion)) {
    const text = conversion === 's' ? String(value) : typeof value === 'string' ? `'${value}'` : String(value);
    return digits === undefined ? text : text.slice(0, digits);
  }
  const number = Number(value);
  if (!Number.isFinite(number)) return String(value);
  const text = numberText(Math.abs(number), conversion, digits);
  return `${number < 0 ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''}${text}`;
}

function numberText(number: number, conversion: string, digits: number | undefined): string {
  switch (conversion) {
    case 'f':
    case 'F':
      return number.toFixed(digits ?? 6);
    case 'e':
    case 'E':
      return number.toExponential(digits ?? 6).replace(/e([+-])(\d)$/, 'e$10$2');
    case 'g':
    case 'G':
      return String(Number(number.toPrecision(digits || 6)));
    case 'x':
      return Math.trunc(number).toString(16);
    case 'X':
      return Math.trunc(number).toString(16).toUpperCase();
    case 'o':
      return Math.trunc(number).toString(8);
    default:
      return String(Math.trunc(number)).padStart(digits ?? 0, '0');
  }
}

function padTo(text: string, width: number, flags: string, conversion: string): string {
  if (text.length >= width) return text;
  if (flags.includes('-')) return text.padEnd(width);
  if (!flags.includes('0') || 'srac'.includes(conversion)) return text.padStart(width);
  const sign = /^[+ -]/.test(text) ? text[0] : '';
  return sign + text.slice(sign?.length ?? 0).padStart(width - (sign?.length ?? 0), '0');
}
