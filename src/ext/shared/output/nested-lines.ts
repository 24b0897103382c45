// The lines of the nested display: the default form of results, and of changes inside state results.
import { isDict, pyRepr, pyStr, type Value } from 'halite/sdk';
import { splitLines } from 'halite/sdk/text';
import { type Colors, stripEscapes } from './colors.ts';
import { eachEntry } from './sorted-keys.ts';

export interface NestedStyle {
  readonly colors: Colors;
  /** Replace escape characters in text. */
  readonly strip: boolean;
  /** Not 0: keys and list marks in red. */
  readonly retcode: number;
}

/** The style, with a cache of lines, because long results repeat the same lines. */
interface Pen extends NestedStyle {
  readonly keyLines: LineMemory;
  readonly textLines: LineMemory;
}
/** By indent, then by text. */
type LineMemory = Map<string, string>[];
const [mostRemembered, longestRemembered] = [300, 100];

export function nestedLines(value: Value, style: NestedStyle, indent = 0): string[] {
  const lines: string[] = [];
  addValue(lines, value, { ...style, keyLines: [], textLines: [] }, indent, '');
  return lines;
}

function remember(memory: LineMemory, indent: number, text: string, line: string): string {
  memory[indent] ??= new Map();
  const known = memory[indent];
  if (known.size < mostRemembered && text.length <= longestRemembered) known.set(text, line);
  return line;
}

const margins: string[] = [];
/** Indentation, created once for each depth. */
function marginOf(indent: number): string {
  margins[indent] ??= ' '.repeat(indent);
  return margins[indent];
}

function addValue(lines: string[], value: Value, style: Pen, indent: number, prefix: string): void {
  const { colors } = style;
  if (typeof value === 'string') addText(lines, value, style, indent, prefix);
  else if (value instanceof Uint8Array) addBytes(lines, value, style, indent, prefix);
  else if (Array.isArray(value)) addList(lines, value, style, indent);
  else if (isDict(value)) addDict(lines, value, style, indent, prefix);
  else {
    const text = value instanceof Date ? pyStr(value) : pyRepr(value);
    lines.push(`${marginOf(indent)}${colors.LIGHT_YELLOW}${prefix}${text}${colors.ENDC}`);
  }
}

function addText(lines: string[], text: string, style: Pen, indent: number, prefix: string): void {
  const known = prefix === '' ? style.textLines[indent]?.get(text) : undefined;
  if (known !== undefined) {
    lines.push(known);
    return;
  }
  const { colors, strip } = style;
  const start = marginOf(indent) + colors.GREEN;
  const parts = splitLines(text);
  let mark = prefix;
  for (const part of parts) {
    const line = start + mark + (strip ? stripEscapes(part) : part) + colors.ENDC;
    lines.push(prefix === '' && parts.length === 1 ? remember(style.textLines, indent, text, line) : line);
    mark = marginOf(prefix.length);
  }
}

/** Bytes that are valid text are shown as text; others are not shown, as in Salt. */
function addBytes(lines: string[], bytes: Uint8Array, style: Pen, indent: number, prefix: string): void {
  try {
    addText(lines, new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), style, indent, prefix);
  } catch {
    // Not text.
  }
}

function addList(lines: string[], items: readonly Value[], style: Pen, indent: number): void {
  const { colors } = style;
  const color = style.retcode === 0 ? colors.GREEN : colors.RED;
  for (const item of items) {
    if (Array.isArray(item) || isDict(item)) {
      lines.push(`${marginOf(indent)}${color}|_${colors.ENDC}`);
      addValue(lines, item, style, indent + 2, isDict(item) ? '' : '- ');
    } else addValue(lines, item, style, indent, '- ');
  }
}

function addDict(lines: string[], dict: Value, style: Pen, indent: number, prefix: string): void {
  if (!isDict(dict)) return;
  const { colors } = style;
  const color = style.retcode === 0 ? colors.CYAN : colors.RED;
  const start = marginOf(indent) + color;
  if (indent > 0) lines.push(`${start}----------${colors.ENDC}`);
  const known = prefix === '' ? style.keyLines[indent] : undefined;
  eachEntry(dict, (key, value) => {
    const line = known?.get(key);
    if (line !== undefined) lines.push(line);
    else {
      const made = `${start}${prefix}${key}${colors.ENDC}:`;
      lines.push(prefix === '' ? remember(style.keyLines, indent, key, made) : made);
    }
    addValue(lines, value, style, indent + 4, '');
  });
}
