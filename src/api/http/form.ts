// Forms (application/x-www-form-urlencoded) as Salt's API reads them.
import { isReorderedKey, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { parseCliYaml } from '../../base/codec/yaml/index.ts';
import { ApiError } from './errors.ts';

const mostPairs = 10_000;

/** Pairs without a value are dropped, and a repeated name makes a list. Undefined when the text is no form. */
export function readForm(text: string): PlainDict {
  const form = newDict();
  const pairs = text.split('&', mostPairs + 1);
  if (pairs.length > mostPairs) throw new ApiError(400, `The form has more than ${mostPairs} fields`);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    const [key, item] = [decoded(name), decoded(value)];
    if (key === '' || item === '') continue;
    if (isReorderedKey(key)) throw new ApiError(400, `The form has a field with the number ${key} as its name`);
    const known = form[key];
    form[key] = known === undefined ? item : Array.isArray(known) ? [...known, item] : [known, item];
  }
  return form;
}

/** The fields `arg` and `kwarg` as arguments of a command line. */
export function argumentsOfForm(form: PlainDict): PlainDict {
  const { arg, kwarg } = form;
  const read = (item: Value): Value => (typeof item === 'string' ? parseCliYaml(item) : item);
  return newDict([
    ...Object.entries(form),
    ...(arg === undefined ? [] : [['arg', (Array.isArray(arg) ? arg : [arg]).map(read)] as const]),
    ...(typeof kwarg === 'string' ? [['kwarg', read(kwarg)] as const] : []),
  ]);
}

/** A percent sign that begins no code stands for itself, as in Python. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' ').replace(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    throw new ApiError(400, 'The form is not encoded correctly');
  }
}
