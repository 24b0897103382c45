// Salt's finalizer: printed containers show dicts in a form YAML can read.
import { writeDoubleQuoted } from '../../../../base/codec/yaml/emit-scalar.ts';
import { Writer } from '../../../../base/codec/yaml/writer.ts';
import { typeError } from '../errors.ts';
import { PyDict } from '../runtime/dict.ts';
import { Markup } from '../runtime/markup.ts';
import { repr, str } from '../runtime/print.ts';
import { GroupTuple, PyTuple } from '../runtime/sequence.ts';
import { PySet } from '../runtime/set.ts';
import { reprText } from '../runtime/text.ts';
import type { PyValue } from '../runtime/value.ts';

/** A text value of a printed dict: line breaks and tabs need a double-quoted YAML scalar. */
function textValue(text: string, plain: () => string): string {
  if (!/[\n\r\t]/.test(text)) return plain();
  const writer = new Writer(80, 2, true);
  writer.deeper(true, false, () => writeDoubleQuoted(writer, text, true));
  return writer.text;
}

function printDict(dict: PyDict, nested: (value: PyValue) => string): string {
  const parts: string[] = [];
  for (const [key, value] of dict.entries()) {
    let shown: string;
    if (typeof value === 'string') shown = textValue(value, () => reprText(value));
    else if (value instanceof Markup) shown = textValue(value.text, () => repr(value));
    else shown = nested(value);
    parts.push(`${repr(key)}: ${shown}`);
  }
  return `{${parts.join(', ')}}`;
}

/** str() of a value whose dicts were made printable. */
function shownAsText(value: PyValue): string {
  return value instanceof PyDict ? printDict(value, shownAsText) : isContainer(value) ? shownAsRepr(value) : str(value);
}

function isContainer(value: PyValue): boolean {
  return Array.isArray(value) || value instanceof PyTuple || value instanceof PySet;
}

/** repr() of the same, as it stands inside lists. */
function shownAsRepr(value: PyValue): string {
  if (value instanceof PyDict) return printDict(value, shownAsRepr);
  if (Array.isArray(value)) return `[${value.map(shownAsRepr).join(', ')}]`;
  if (value instanceof GroupTuple) {
    // The reference cannot rebuild these and fails; templates that print groups must unpack them.
    throw typeError("_GroupTuple.__new__() missing 1 required positional argument: 'list'");
  }
  if (value instanceof PyTuple) {
    const parts = value.items.map(shownAsRepr);
    return parts.length === 1 ? `(${parts[0]},)` : `(${parts.join(', ')})`;
  }
  return repr(value);
}

/** Text of a printed expression. */
export function finalize(value: PyValue): string {
  if (typeof value === 'string') return value;
  if (value === null || typeof value !== 'object') return str(value);
  return shownAsText(value);
}
