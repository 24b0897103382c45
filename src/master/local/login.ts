// Logging in and out on the local socket: the only calls that need no credentials other than their own.
import { textField } from '../../base/codec/fields.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { claimedChain } from '../../protocol/wire/messages/certificate.ts';
import { readCredentials } from '../../protocol/wire/messages/clear.ts';
import { tokenValue } from '../../store/tokens/tokens.ts';
import type { Logins } from '../authorization/logins.ts';

export type LoginParts = Pick<Logins, 'login' | 'makeToken' | 'lookUp' | 'dropToken' | 'permsOf'>;

export interface LoginCalls {
  readonly logins: LoginParts;
  /** With which the API signs what it says about certificates; undefined when nobody logs in with one. */
  readonly certificateKey: Uint8Array | undefined;
}

/** Answers `login`, `token` and `logout`; undefined for every other call. */
export function loginCall(calls: LoginCalls, verb: string, args: PlainDict): Promise<Value> | undefined {
  const { logins } = calls;
  switch (verb) {
    case 'login':
      return login(calls, args);
    case 'token':
      return whoIs(logins, args);
    case 'logout':
      return logout(logins, args);
    default:
      return undefined;
  }
}

async function login({ logins, certificateKey: key }: LoginCalls, args: PlainDict): Promise<Value> {
  const claimed = textField(args, 'certificate');
  const certificate = key && claimed !== undefined ? claimedChain(key, claimed) : undefined;
  const given = { ...readCredentials(args), ...(certificate ? { certificate } : {}) };
  const identity = await logins.login(given, originOf(args));
  const made = tokenValue(await logins.makeToken(identity, args['token_expire']));
  return newDict([...Object.entries(made), ['perms', await logins.permsOf(identity)]]);
}

/**
 * The address for which the API asks, for the count of failed logins. Any user of this machine could name one: it
 * is counted apart from the addresses that the master sees itself.
 */
export function originOf(args: PlainDict): string | undefined {
  const from = textField(args, 'from');
  return from === undefined || from === '' ? undefined : `api ${from.slice(0, 64)}`;
}

/** Without the token itself, which the caller has. */
async function whoIs(logins: LoginParts, args: PlainDict): Promise<Value> {
  const found = await logins.lookUp(textField(args, 'token') ?? '');
  if (!found) return newDict();
  const { token: _own, ...shown } = tokenValue(found);
  return newDict(Object.entries(shown));
}

async function logout(logins: LoginParts, args: PlainDict): Promise<Value> {
  const token = textField(args, 'token') ?? '';
  if (!(await logins.lookUp(token)))
    throw new HaliteError('auth.failed', 'Authentication failure of type "token" occurred.');
  return logins.dropToken(token);
}
