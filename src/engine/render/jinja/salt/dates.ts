// strftime and date_format.

import { type TimeFields as Fields, strftime } from '../../../../base/util/strftime.ts';
import { typeError, valueError } from '../errors.ts';
import { PyDateTime } from '../runtime/datetime.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { textOf } from '../runtime/markup.ts';
import { asDouble, parseFloatText } from '../runtime/number.ts';
import { str } from '../runtime/print.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { Undefined } from '../runtime/undefined.ts';
import { type PyValue, typeName } from '../runtime/value.ts';
import { parseDate, utcFields } from './parse-date.ts';

/** Fields of a time in local time; the time zone is that of the process. */
function localFields(seconds: number): Fields {
  const whole = Math.floor(seconds);
  const d = new Date(whole * 1000);
  return {
    year: d.getFullYear(),
    month: d.getMonth() + 1,
    day: d.getDate(),
    hour: d.getHours(),
    minute: d.getMinutes(),
    second: d.getSeconds(),
    micro: Math.round((seconds - whole) * 1e6),
  };
}

function fieldsOf(rt: Runtime, value: PyValue): Fields {
  const now = rt.hooks.now();
  if (value === null) return localFields(now / 1000);
  if (value instanceof PyDateTime) return utcFields(value.millis);
  if (value instanceof Undefined) value.fail();
  const text = textOf(value);
  const stamp = text === undefined ? asDouble(value) : /^\d{9,}$|^\d+\.\d+$/.test(text) ? Number(text) : undefined;
  const read = stamp !== undefined ? localFields(stamp) : text === undefined ? undefined : parseDate(text, now);
  // A text that is not a date may still be a number of seconds.
  const seconds = text === undefined ? undefined : parseFloatText(text);
  const fields = read ?? (seconds === undefined ? undefined : localFields(seconds));
  if (fields === undefined || Number.isNaN(fields.year)) throw valueError(`Unable to parse ${str(value)}`);
  return fields;
}

const format = define('strftime', "date=None, format='%Y-%m-%d'", (rt, date, pattern) => {
  const fields = fieldsOf(rt, date!);
  const text = textOf(pattern!);
  if (text !== undefined) return strftime(fields, text);
  throw typeError(`strftime() argument 1 must be str, not ${pattern === null ? 'None' : typeName(pattern!)}`);
});

export const dateFilters: FunctionTable = tableOf({ strftime: format, date_format: format });
