// Login tokens: what one stands for, and where they are kept.
import { createHash, randomBytes } from 'node:crypto';
import { dictField, listField, numberField, textField, textsField } from '../../base/codec/fields.ts';
import { isDict, newDict, type PlainDict, PyFloat, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';

/** Whoever presents the token is this user. */
export interface TokenData {
  readonly name: string;
  readonly eauth: string;
  /** In seconds since 1970. */
  readonly start: number;
  readonly expire: number;
  readonly groups?: readonly string[];
  /** Rules at the time of the login (`keep_acl_in_token`); they apply instead of those of the configuration. */
  readonly rules?: readonly Value[];
}

export interface StoredToken extends TokenData {
  readonly token: string;
}

export interface TokenStore {
  create(data: TokenData): Promise<StoredToken>;
  /** Undefined for a token that does not exist, is expired, or is not one. */
  get(token: string): Promise<StoredToken | undefined>;
  /** At most some thousand. Stores that do not know the tokens themselves name each by its digest. */
  list(): Promise<StoredToken[]>;
  /** By the token, or by the name that the list has for it. Whether there was one. */
  delete(token: string): Promise<boolean>;
  /** Removes those that are expired. */
  sweep(): Promise<void>;
  close(): void;
}

/** More than anybody reads. */
export const mostListed = 10_000;

/** Checked before a token is used in any other way. */
export const isToken = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{32,128}$/.test(text);

/** 32 hexadecimal digits are the least that is accepted as a token, and those of MD5 and SHA-1 are few. */
export function newToken(hashType: string): string {
  const hash = hashType === 'md5' || hashType === 'sha1' ? 'sha256' : hashType;
  return createHash(hash).update(randomBytes(512)).digest('hex');
}

/** What is stored instead of a token: whoever reads the store cannot log in with it. */
export const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Such a token is refused for now, and not deleted. */
export const unavailable = (error: unknown): HaliteError =>
  new HaliteError('store.unavailable', `The tokens cannot be read: ${messageOf(error)}`, { cause: error });

/** The form in which Salt stores and sends a token. */
export function tokenValue({ token, name, eauth, start, expire, groups, rules }: StoredToken): PlainDict {
  return newDict([
    ['start', new PyFloat(start)],
    ['expire', new PyFloat(expire)],
    ['name', name],
    ['eauth', eauth],
    ...(groups && groups.length > 0 ? [['groups', [...groups]] as [string, Value]] : []),
    ...(rules ? [['auth_list', [...rules]] as [string, Value]] : []),
    ['token', token],
  ]);
}

/** A stored token; undefined when it is malformed or belongs to another name. */
export function readTokenValue(value: Value, token: string): StoredToken | undefined {
  if (!isDict(value)) return undefined;
  // 3008 stores the map below `data`.
  const dict = dictField(value, 'data') ?? value;
  const [name, eauth] = [textField(dict, 'name'), textField(dict, 'eauth')];
  const [start, expire] = [numberField(dict, 'start'), numberField(dict, 'expire')];
  const own = textField(dict, 'token');
  if (name === undefined || eauth === undefined || start === undefined || expire === undefined) return undefined;
  if (own !== undefined && own !== token) return undefined;
  const groups = textsField(dict, 'groups');
  const rules = listField(dict, 'auth_list');
  return {
    ...{ token, name, eauth, start, expire },
    ...(Array.isArray(groups) ? { groups } : {}),
    ...(rules ? { rules } : {}),
  };
}
