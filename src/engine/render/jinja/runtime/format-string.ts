// str.format and format_map in the sandbox: fields, nested specs, attribute access through the engine.
import { indexError, PyError, valueError } from '../errors.ts';
import { formatValue } from './format.ts';
import { escapeHtml, Markup } from './markup.ts';
import { repr, str } from './print.ts';
import { escapeCode } from './text.ts';
import type { PyValue } from './value.ts';

export interface FormatAccess {
  attribute(owner: PyValue, name: string): PyValue;
  item(owner: PyValue, key: PyValue): PyValue;
}

interface Fields {
  readonly args: readonly PyValue[];
  readonly named: (key: string) => PyValue | undefined;
  readonly access: FormatAccess;
  readonly escape: boolean;
  /** Next automatic index; false once explicit numbers were used. */
  auto: number | false;
}

/** `'…'.format(*args, **named)`; with `escape` the rules of Markup.format. */
export function formatString(
  template: string,
  args: readonly PyValue[],
  named: (key: string) => PyValue | undefined,
  access: FormatAccess,
  escaping = false,
): string {
  return expand(template, { args, named, access, escape: escaping, auto: 0 }, 2);
}

function expand(template: string, fields: Fields, depth: number): string {
  if (depth < 0) throw valueError('Max string recursion exceeded');
  let out = '';
  let at = 0;
  while (at < template.length) {
    const char = template[at]!;
    if (char !== '{' && char !== '}') {
      const next = template.slice(at).search(/[{}]/);
      const end = next < 0 ? template.length : at + next;
      out += template.slice(at, end);
      at = end;
    } else if (template[at + 1] === char) {
      out += char;
      at += 2;
    } else if (char === '}') {
      throw valueError("Single '}' encountered in format string");
    } else {
      const end = fieldEnd(template, at + 1);
      out += replace(template.slice(at + 1, end), fields, depth);
      at = end + 1;
    }
  }
  return out;
}

/** Index of the brace that closes the field opened before `start`. */
function fieldEnd(template: string, start: number): number {
  if (start >= template.length) throw valueError("Single '{' encountered in format string");
  let depth = 1;
  let bracket = false;
  let inSpec = false;
  for (let at = start; at < template.length; at += 1) {
    const char = template[at];
    if (!inSpec && char === '[') bracket = true;
    else if (bracket && char === ']') bracket = false;
    else if (bracket) continue;
    else if (char === ':' || char === '!') inSpec = true;
    else if (char === '{') {
      if (!inSpec) throw valueError("unexpected '{' in field name");
      depth += 1;
    } else if (char === '}') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  throw valueError("expected '}' before end of string");
}

function replace(field: string, fields: Fields, depth: number): string {
  const split = /^((?:[^:![]|\[[^\]]*\]?)*)(?:!([^:]*))?(?::(.*))?$/s.exec(field);
  if (split === null) throw valueError("expected ':' after conversion specifier");
  const conversion = split[2];
  if (conversion !== undefined && [...conversion].length !== 1) {
    throw valueError(conversion === '' ? "unmatched '{' in format spec" : "expected ':' after conversion specifier");
  }
  let value = lookup(automatic(split[1]!, fields), fields);
  if (conversion !== undefined) value = convert(value, conversion);
  const spec = expand(split[3] ?? '', fields, depth - 1);
  return fields.escape ? escapedField(value, spec) : formatValue(value, spec);
}

function automatic(name: string, fields: Fields): string {
  const clash = 'cannot switch from manual field specification to automatic field numbering';
  if (name === '') {
    if (fields.auto === false) throw valueError(clash);
    fields.auto += 1;
    return String(fields.auto - 1);
  }
  if (/^\d+$/.test(name)) {
    if (fields.auto) throw valueError(clash);
    fields.auto = false;
  }
  return name;
}

function lookup(name: string, fields: Fields): PyValue {
  const first = /^[^.[]*/.exec(name)![0];
  let value: PyValue | undefined;
  if (/^\d+$/.test(first)) {
    value = fields.args[Number(first)];
    if (value === undefined) throw indexError('tuple index out of range');
  } else {
    value = fields.named(first);
    if (value === undefined) throw new PyError('KeyError', repr(first));
  }
  let rest = name.slice(first.length);
  while (rest !== '') {
    const step = /^(?:\.([^.[]*)|\[([^\]]*)\])/.exec(rest);
    if (step === null) {
      throw valueError(
        rest[0] === '[' ? "Missing ']' in format string" : "Only '.' or '[' may follow ']' in format field specifier",
      );
    }
    if ((step[1] ?? step[2]) === '') throw valueError('Empty attribute in format string');
    if (step[1] !== undefined) value = fields.access.attribute(value, step[1]);
    else value = fields.access.item(value, /^\d+$/.test(step[2]!) ? Number(step[2]) : step[2]!);
    rest = rest.slice(step[0].length);
  }
  return value;
}

function convert(value: PyValue, conversion: string): string {
  if (conversion === 's') return str(value);
  if (conversion === 'r') return repr(value);
  if (conversion === 'a') return asciiRepr(value);
  throw valueError(`Unknown conversion specifier ${conversion}`);
}

export function asciiRepr(value: PyValue): string {
  return repr(value).replace(/[^\x00-\x7f]/gu, (char) => escapeCode(char.codePointAt(0)!));
}

function escapedField(value: PyValue, spec: string): string {
  if (value instanceof Markup) {
    if (spec !== '') throw valueError('Unsupported format specification for Markup.');
    return value.text;
  }
  return escapeHtml(formatValue(value, spec));
}
