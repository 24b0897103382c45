// str methods that search, split and join.
import { splitLines } from '../../../../../base/util/pytext.ts';
import { PyError, typeError, valueError } from '../../errors.ts';
import { keywords, type Method, noArguments, oneArgument, parsed, positional } from '../callable.ts';
import { truth, tryIterate } from '../iterate.ts';
import { textOf } from '../markup.ts';
import { PyTuple } from '../sequence.ts';
import { codePoints, isSpaceUnit, pyIndex, pyLength, trim, trimEnd, trimStart } from '../text.ts';
import { type PyValue, typeName } from '../value.ts';
import { intArgument, textArgument, windowOf } from './support.ts';

function locate(self: string, args: PyValue[], last: boolean): number {
  const needle = textArgument(args[0]!, 'must be str');
  const window = windowOf(self, args[1], args[2]);
  if (!window.valid) return -1;
  const at = last ? window.text.lastIndexOf(needle) : window.text.indexOf(needle);
  return at < 0 ? -1 : pyIndex(window.text, at) + window.offset;
}

function locateOrRaise(self: string, args: PyValue[], last: boolean): number {
  const at = locate(self, args, last);
  if (at < 0) throw valueError('substring not found');
  return at;
}

function count(self: string, args: PyValue[]): number {
  const needle = textArgument(args[0]!, 'must be str');
  const window = windowOf(self, args[1], args[2]);
  if (!window.valid) return 0;
  if (needle === '') return pyLength(window.text) + 1;
  return window.text.split(needle).length - 1;
}

function affix(name: 'startswith' | 'endswith'): (self: string, args: PyValue[]) => boolean {
  const test = (text: string, part: string): boolean =>
    name === 'startswith' ? text.startsWith(part) : text.endsWith(part);
  return (self, args) => {
    const wanted = args[0]!;
    const window = windowOf(self, args[1], args[2]);
    const parts = wanted instanceof PyTuple ? wanted.items : [wanted];
    return parts.some((part) => {
      const text = textOf(part);
      if (text === undefined) {
        throw typeError(
          wanted instanceof PyTuple
            ? `tuple for ${name} must only contain str, not ${typeName(part)}`
            : `${name} first arg must be str or a tuple of str, not ${typeName(part)}`,
        );
      }
      return window.valid && test(window.text, text);
    });
  };
}

function separator(value: PyValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = textArgument(value, 'must be str or None');
  if (text === '') throw valueError('empty separator');
  return text;
}

function limit(value: PyValue | undefined): number {
  const most = value === undefined ? -1 : intArgument(value);
  return most < 0 ? Number.POSITIVE_INFINITY : most;
}

function split(self: string, args: PyValue[]): string[] {
  const by = separator(args[0]);
  const most = limit(args[1]);
  if (by === undefined) return splitBlanks(self, most);
  const parts = self.split(by);
  return parts.length - 1 <= most ? parts : [...parts.slice(0, most), parts.slice(most).join(by)];
}

function splitBlanks(self: string, most: number): string[] {
  const out: string[] = [];
  let at = 0;
  const skip = (): void => {
    while (at < self.length && isSpaceUnit(self.charCodeAt(at))) at += 1;
  };
  for (skip(); at < self.length; skip()) {
    if (out.length >= most) {
      out.push(self.slice(at));
      break;
    }
    const start = at;
    while (at < self.length && !isSpaceUnit(self.charCodeAt(at))) at += 1;
    out.push(self.slice(start, at));
  }
  return out;
}

function rsplit(self: string, args: PyValue[]): string[] {
  const by = separator(args[0]);
  const most = limit(args[1]);
  if (by === undefined) {
    if (most === Number.POSITIVE_INFINITY) return splitBlanks(self, most);
    return splitBlanks(reverse(self), most).map(reverse).reverse();
  }
  const parts = self.split(by);
  if (parts.length - 1 <= most) return parts;
  const cut = parts.length - most;
  return [parts.slice(0, cut).join(by), ...parts.slice(cut)];
}

const reverse = (text: string): string => Array.from(text).reverse().join('');

function partition(self: string, args: PyValue[], last: boolean): PyTuple {
  const by = textArgument(args[0]!, 'must be str');
  if (by === '') throw valueError('empty separator');
  const at = last ? self.lastIndexOf(by) : self.indexOf(by);
  if (at < 0) return new PyTuple(last ? ['', '', self] : [self, '', '']);
  return new PyTuple([self.slice(0, at), by, self.slice(at + by.length)]);
}

/** `separator.join(items)`. */
function joinText(self: string, items: PyValue): string {
  const source = tryIterate(items);
  if (source === undefined) throw typeError('can only join an iterable');
  const parts: string[] = [];
  for (let step = source.next(); !step.done; step = source.next()) {
    const text = textOf(step.value);
    if (text === undefined) {
      throw typeError(`sequence item ${parts.length}: expected str instance, ${typeName(step.value)} found`);
    }
    parts.push(text);
  }
  return parts.join(self);
}

function replace(self: string, args: PyValue[]): string {
  const old = textArgument(args[0]!, 'replace() argument 1 must be str');
  const fresh = textArgument(args[1]!, 'replace() argument 2 must be str');
  return replaceText(self, old, fresh, limit(args[2]));
}

/** `text.replace(old, new, count)`; an empty `old` matches between characters. */
export function replaceText(self: string, old: string, fresh: string, most: number): string {
  if (old === '') {
    const chars = codePoints(self);
    let out = '';
    chars.forEach((char, index) => {
      out += index < most ? fresh + char : char;
    });
    return chars.length < most ? out + fresh : out;
  }
  if (most === Number.POSITIVE_INFINITY) return self.replaceAll(old, () => fresh);
  const parts = self.split(old);
  return parts.length - 1 <= most
    ? parts.join(fresh)
    : [...parts.slice(0, most), parts.slice(most).join(old)].join(fresh);
}

type Side = 'strip' | 'lstrip' | 'rstrip';

function strip(side: Side): (self: string, args: PyValue[]) => string {
  return (self, args) => {
    const chars = args[0];
    if (chars === undefined || chars === null) {
      return side === 'strip' ? trim(self) : side === 'lstrip' ? trimStart(self) : trimEnd(self);
    }
    const text = textOf(chars);
    if (text === undefined) throw typeError(`${side} arg must be None or str`);
    return stripChars(self, text, side);
  };
}

/** Cuts characters of a set from the ends. */
export function stripChars(self: string, chars: string, side: Side = 'strip'): string {
  const set = new Set(chars);
  const units = codePoints(self);
  let start = 0;
  let end = units.length;
  if (side !== 'rstrip') while (start < end && set.has(units[start]!)) start += 1;
  if (side !== 'lstrip') while (end > start && set.has(units[end - 1]!)) end -= 1;
  return units.slice(start, end).join('');
}

function cutAffix(name: 'removeprefix' | 'removesuffix', self: string, args: PyValue[]): string {
  const part = textArgument(args[0]!, `${name}() argument must be str`);
  if (name === 'removeprefix') return self.startsWith(part) ? self.slice(part.length) : self;
  return part !== '' && self.endsWith(part) ? self.slice(0, -part.length) : self;
}

function translate(self: string, args: PyValue[]): string {
  const table = args[0]!;
  const lookup = (code: number): PyValue | undefined => {
    if (Array.isArray(table)) return table[code];
    const text = textOf(table);
    if (text !== undefined) return codePoints(text)[code];
    if (typeof table === 'object' && table !== null && 'get' in table)
      return (table as { get(key: PyValue): PyValue | undefined }).get(code);
    throw typeError(`'${typeName(table)}' object is not subscriptable`);
  };
  let out = '';
  for (const char of self) {
    const found = lookup(char.codePointAt(0)!);
    if (found === undefined) out += char;
    else if (found === null) continue;
    else if (typeof found === 'number') out += String.fromCodePoint(found);
    else {
      const text = textOf(found);
      if (text === undefined) throw new PyError('TypeError', 'character mapping must return integer, None or str');
      out += text;
    }
  }
  return out;
}

export const searchMethods: readonly Method[] = [
  parsed('find', 1, 3, (self: string, args) => locate(self, args, false)),
  parsed('rfind', 1, 3, (self: string, args) => locate(self, args, true)),
  parsed('index', 1, 3, (self: string, args) => locateOrRaise(self, args, false)),
  parsed('rindex', 1, 3, (self: string, args) => locateOrRaise(self, args, true)),
  parsed('count', 1, 3, count),
  parsed('startswith', 1, 3, affix('startswith')),
  parsed('endswith', 1, 3, affix('endswith')),
  keywords('split', ['sep', 'maxsplit'], 0, split),
  keywords('rsplit', ['sep', 'maxsplit'], 0, rsplit),
  keywords('splitlines', ['keepends'], 0, (self: string, args) =>
    splitLines(self, args[0] !== undefined && truth(args[0])),
  ),
  oneArgument('partition', (self: string, args) => partition(self, args, false)),
  oneArgument('rpartition', (self: string, args) => partition(self, args, true)),
  oneArgument('join', (self: string, args) => joinText(self, args[0]!)),
  positional('replace', 2, 3, replace),
  positional('strip', 0, 1, strip('strip')),
  positional('lstrip', 0, 1, strip('lstrip')),
  positional('rstrip', 0, 1, strip('rstrip')),
  oneArgument('removeprefix', (self: string, args) => cutAffix('removeprefix', self, args)),
  oneArgument('removesuffix', (self: string, args) => cutAffix('removesuffix', self, args)),
  oneArgument('translate', translate),
  noArguments('isspace', (self: string) => self !== '' && trim(self) === ''),
];
