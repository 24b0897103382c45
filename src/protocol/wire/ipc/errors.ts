// Errors across the local socket: code, message, hint and details are preserved; any other error becomes a failed call.
import { textField } from '../../../base/codec/fields.ts';
import { asPlainDict, dictGet, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { errorCodes, HaliteError, messageOf } from '../../../base/errors/index.ts';

export function errorToValue(thrown: unknown): PlainDict {
  const out = newDict();
  if (!(thrown instanceof HaliteError)) {
    out['code'] = 'call.failed';
    out['message'] = messageOf(thrown);
    return out;
  }
  out['code'] = thrown.code;
  out['message'] = thrown.message;
  if (thrown.hint !== undefined) out['hint'] = thrown.hint;
  const details = newDict();
  for (const [key, value] of Object.entries(thrown.details)) if (isPlain(value)) details[key] = value;
  if (Object.keys(details).length > 0) out['details'] = details;
  return out;
}

/** Details may contain anything; only simple values are sent. */
function isPlain(value: unknown): value is Value {
  if (Array.isArray(value)) return value.every(isPlain);
  return value === null || ['string', 'number', 'boolean', 'bigint'].includes(typeof value);
}

export function errorFromValue(value: Value | undefined): HaliteError {
  if (!isDict(value)) return new HaliteError('call.failed', 'The daemon reported an error');
  const code = textField(value, 'code');
  const hint = textField(value, 'hint');
  const details = asPlainDict(dictGet(value, 'details'));
  return new HaliteError(
    code !== undefined && Object.hasOwn(errorCodes, code) ? (code as keyof typeof errorCodes) : 'call.failed',
    textField(value, 'message') ?? 'The daemon reported an error',
    {
      ...(hint === undefined ? {} : { hint }),
      ...(details === undefined ? {} : { details }),
    },
  );
}
