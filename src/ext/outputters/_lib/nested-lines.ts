// The lines of the nested display: the default look of results, and of changes inside state results.
import { pyRepr, pyStr } from '../../../base/codec/python/repr.ts';
import { isDict, type Value } from '../../../base/codec/value.ts';
import { splitLines } from '../../../base/util/pytext.ts';
import { type Colors, stripEscapes } from './colors.ts';
import { eachEntry } from './sorted-keys.ts';

export interface NestedStyle {
  readonly colors: Colors;
  /** Replace escape characters in text. */
  readonly strip: boolean;
  /** Not 0: keys and list marks in red. */
  readonly retcode: number;
}

export function nestedLines(value: Value, style: NestedStyle, indent = 0): string[] {
  const lines: string[] = [];
  addValue(lines, value, style, indent, '');
  return lines;
}

const margins: string[] = [];
/** Blanks: made once for each depth. */
function marginOf(indent: number): string {
  margins[indent] ??= ' '.repeat(indent);
  return margins[indent];
}

function addValue(lines: string[], value: Value, style: NestedStyle, indent: number, prefix: string): void {
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

function addText(lines: string[], text: string, style: NestedStyle, indent: number, prefix: string): void {
  const { colors, strip } = style;
  const start = marginOf(indent) + colors.GREEN;
  let mark = prefix;
  for (const line of splitLines(text)) {
    const shown = strip ? stripEscapes(line) : line;
    lines.push(start + mark + shown + colors.ENDC);
    mark = marginOf(prefix.length);
  }
}

/** Bytes that are text are shown as text; others not at all, as in Salt. */
function addBytes(lines: string[], bytes: Uint8Array, style: NestedStyle, indent: number, prefix: string): void {
  try {
    addText(lines, new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), style, indent, prefix);
  } catch {
    // Not text.
  }
}

function addList(lines: string[], items: readonly Value[], style: NestedStyle, indent: number): void {
  const { colors } = style;
  const color = style.retcode === 0 ? colors.GREEN : colors.RED;
  for (const item of items) {
    if (Array.isArray(item) || isDict(item)) {
      lines.push(`${marginOf(indent)}${color}|_${colors.ENDC}`);
      addValue(lines, item, style, indent + 2, isDict(item) ? '' : '- ');
    } else addValue(lines, item, style, indent, '- ');
  }
}

function addDict(lines: string[], dict: Value, style: NestedStyle, indent: number, prefix: string): void {
  if (!isDict(dict)) return;
  const { colors } = style;
  const color = style.retcode === 0 ? colors.CYAN : colors.RED;
  const start = marginOf(indent) + color;
  if (indent > 0) lines.push(`${start}----------${colors.ENDC}`);
  const [before, after] = [start + prefix, `${colors.ENDC}:`];
  eachEntry(dict, (key, value) => {
    lines.push(before + key + after);
    addValue(lines, value, style, indent + 4, '');
  });
}
