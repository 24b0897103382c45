// One call of a request ("lowstate chunk"): its client, its credentials and its fields.
import { textField } from '../../base/codec/fields.ts';
import { asNumber, asPlainDict, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { ApiError } from '../http/errors.ts';
import type { Credentials } from '../master.ts';

const mostChunks = 10_000;

/** A map is a list of one; its `arg` is always a list. */
export function chunksOf(value: Value): PlainDict[] {
  const list = isDict(value)
    ? isEmpty(value)
      ? undefined
      : [withList(value)]
    : Array.isArray(value)
      ? value
      : undefined;
  if (!list) throw new ApiError(400, 'Lowstates must be a list');
  if (list.length > mostChunks) throw new ApiError(400, `A request has at most ${mostChunks} lowstates`);
  return list.map((item, at) => {
    const chunk = asPlainDict(item);
    if (!chunk) throw new ApiError(400, `Lowstate ${at + 1} is not a map with names as its keys`);
    // They would set what only the master sets.
    return newDict(Object.entries(chunk).filter(([name]) => !name.startsWith('__')));
  });
}

const isEmpty = (value: object): boolean => (value instanceof Map ? value.size : Object.keys(value).length) === 0;

function withList(value: Value): Value {
  const chunk = asPlainDict(value);
  if (!chunk || chunk['arg'] === undefined || Array.isArray(chunk['arg'])) return value;
  return { ...newDict(Object.entries(chunk)), arg: [chunk['arg']] };
}

export const isHex = (text: string): boolean => /^[0-9a-f]{1,128}$/i.test(text);

/** The credentials in a chunk; undefined when there are none. */
export function credentialsIn(chunk: PlainDict): Credentials | undefined {
  if ('token' in chunk) {
    const { token } = chunk;
    // Before any file or database is asked.
    if (typeof token !== 'string' || !isHex(token)) throw new ApiError(401, 'Invalid token');
    return { token };
  }
  const [eauth, username, password] = ['eauth', 'username', 'password'].map((name) => textField(chunk, name));
  if (eauth !== undefined && username !== undefined && password !== undefined) return { eauth, username, password };
  // A login that cannot be right, and none: Salt tells the two apart.
  if ('eauth' in chunk && 'username' in chunk && 'password' in chunk) throw wrongLogin(chunk, username);
  return undefined;
}

function wrongLogin({ client }: PlainDict, username: string | undefined): ApiError {
  if (typeof client === 'string' && client.startsWith('local'))
    return new ApiError(401, 'Authentication error occurred.');
  const who = username === undefined ? '' : ` for user ${username.slice(0, 64)}`;
  return new ApiError(401, `Authentication failure of type "eauth" occurred${who}.`);
}

/** Forms have numbers as texts. */
export function numberOf(value: Value | undefined): number | undefined {
  if (typeof value === 'string' && /^\d{1,9}(\.\d{1,6})?$/.test(value.trim())) return Number(value);
  return asNumber(value);
}

export function flagOf(value: Value | undefined): boolean {
  return value === true || (typeof value === 'string' && /^true$/i.test(value)) || value === 1;
}
