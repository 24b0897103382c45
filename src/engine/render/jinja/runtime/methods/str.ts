// The method tables of str and Markup.
import { typeError, valueError } from '../../errors.ts';
import { getAttribute, getItem, plainItem } from '../access.ts';
import {
  keywords,
  type Method,
  type MethodTable,
  methodTable,
  noArguments,
  positional,
  variadic,
} from '../callable.ts';
import { PyDict } from '../dict.ts';
import { encodeText } from '../encoding.ts';
import { type FormatAccess, formatString } from '../format-string.ts';
import { toArray } from '../iterate.ts';
import { escapeHtml, Markup, textOf } from '../markup.ts';
import { str } from '../print.ts';
import type { Runtime } from '../runtime.ts';
import { PyTuple } from '../sequence.ts';
import { codePoints, pyLength } from '../text.ts';
import { unescapeHtml } from '../unescape.ts';
import type { Kwargs, PyValue } from '../value.ts';
import { caseMethods } from './str-case.ts';
import { searchMethods } from './str-search.ts';
import { textArgument } from './support.ts';

const accessFor = (rt: Runtime): FormatAccess => ({
  attribute: (owner, name) => getAttribute(rt, owner, name),
  item: (owner, key) => getItem(rt, owner, key),
});

function format(self: string, args: PyValue[], rt: Runtime, kwargs: Kwargs | undefined, escaping = false): string {
  return formatString(self, args, (key) => kwargs?.get(key), accessFor(rt), escaping);
}

function formatMap(self: string, args: PyValue[], rt: Runtime, kwargs: Kwargs | undefined, escaping = false): string {
  if (kwargs !== undefined && kwargs.size > 0) throw typeError('format_map() takes no keyword arguments');
  if (args.length !== 1) throw typeError(`format_map() takes exactly one argument (${args.length} given)`);
  return formatString(self, [], (key) => plainItem(args[0]!, key), accessFor(rt), escaping);
}

function encode(self: string, args: PyValue[]): Uint8Array {
  const encoding = args[0] === undefined ? 'utf-8' : textArgument(args[0], "encode() argument 'encoding' must be str");
  const errors = args[1] === undefined ? 'strict' : textArgument(args[1], "encode() argument 'errors' must be str");
  return encodeText(self, encoding, errors);
}

function maketrans(_self: string, args: PyValue[]): PyDict {
  if (args.length === 1) return transFromDict(args[0]!);
  const from = codePoints(textArgument(args[0]!, 'maketrans() argument 1 must be str'));
  const to = codePoints(textArgument(args[1]!, 'maketrans() argument 2 must be str'));
  if (from.length !== to.length) throw valueError('the first two maketrans arguments must have equal length');
  const table = new PyDict();
  from.forEach((char, index) => {
    table.set(char.codePointAt(0)!, to[index]!.codePointAt(0)!);
  });
  if (args[2] !== undefined) {
    for (const char of textArgument(args[2], 'maketrans() argument 3 must be str'))
      table.set(char.codePointAt(0)!, null);
  }
  return table;
}

function transFromDict(source: PyValue): PyDict {
  if (!(source instanceof PyDict)) throw typeError('if you give only one argument to maketrans it must be a dict');
  const table = new PyDict();
  for (const [key, value] of source.entries()) {
    const text = textOf(key);
    if (text !== undefined && pyLength(text) !== 1)
      throw valueError('string keys in translate table must be of length 1');
    table.set(text === undefined ? key : text.codePointAt(0)!, value);
  }
  return table;
}

const ownMethods: readonly Method[] = [
  variadic('format', (self: string, args, rt, kwargs) => format(self, args, rt, kwargs)),
  variadic('format_map', (self: string, args, rt, kwargs) => formatMap(self, args, rt, kwargs)),
  keywords('encode', ['encoding', 'errors'], 0, encode),
  positional('maketrans', 1, 3, maketrans),
];

export const strMethods: MethodTable = methodTable([...caseMethods, ...searchMethods, ...ownMethods]);

const wrapped = new Set(
  'split rsplit splitlines capitalize title lower upper replace ljust rjust lstrip rstrip center strip translate expandtabs swapcase zfill casefold removeprefix removesuffix partition rpartition join'.split(
    ' ',
  ),
);

const toMarkup = (value: PyValue): PyValue => {
  if (typeof value === 'string') return new Markup(value);
  if (Array.isArray(value)) return value.map(toMarkup);
  return value instanceof PyTuple ? new PyTuple(value.items.map(toMarkup)) : value;
};

const safe = (value: PyValue): PyValue =>
  value instanceof Markup ? value.text : typeof value === 'string' ? escapeHtml(value) : value;

/** Arguments that markupsafe escapes before they become part of the text. */
function escapedArguments(name: string, args: PyValue[]): PyValue[] {
  if (name === 'join')
    return [
      toArray(args[0]!).map((item) => safe(typeof item === 'string' || item instanceof Markup ? item : str(item))),
    ];
  if (name === 'replace') return args.map((arg, index) => (index === 1 ? safe(arg) : arg));
  if (name === 'ljust' || name === 'rjust' || name === 'center')
    return args.map((arg, index) => (index === 1 ? safe(arg) : arg));
  return args;
}

function markupMethod(entry: Method): Method {
  const wrap = wrapped.has(entry.name);
  return {
    ...entry,
    run: (self, args, rt, kwargs) => {
      const result = entry.run((self as Markup).text, escapedArguments(entry.name, args), rt, kwargs);
      return wrap && !(result instanceof Promise) ? toMarkup(result) : result;
    },
  };
}

/** Text without tags, blanks collapsed, entities resolved. */
export function stripTags(source: string): string {
  const bare = source.replace(/<!--.*?-->|<[^>]*>/gs, '');
  return unescapeHtml(
    bare
      .split(/[\s\x1c-\x1f\x85]+/)
      .filter((part) => part !== '')
      .join(' '),
  );
}

export const markupMethods: MethodTable = methodTable([
  ...[...strMethods.values()].map(markupMethod),
  variadic('format', (self: Markup, args, rt, kwargs) => new Markup(format(self.text, args, rt, kwargs, true))),
  variadic('format_map', (self: Markup, args, rt, kwargs) => new Markup(formatMap(self.text, args, rt, kwargs, true))),
  noArguments('unescape', (self: Markup) => unescapeHtml(self.text)),
  noArguments('striptags', (self: Markup) => stripTags(self.text)),
  positional('escape', 1, 1, (_self: Markup, args) => new Markup(str(safe(args[0]!)))),
]);
