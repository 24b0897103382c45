// Every login, whatever endpoint it comes through: its place among the others, and who may log in from where.
import { textField } from '../base/codec/fields.ts';
import type { PlainDict, Value } from '../base/codec/value.ts';
import type { Api } from './api.ts';
import { certificateModule } from './client-certificates.ts';
import { ApiError } from './http/errors.ts';
import type { Exchange } from './http/exchange.ts';
import { isListed } from './http/peer.ts';
import type { Login } from './master.ts';
import type { ApiSettings } from './settings.ts';

export interface LoginRequest {
  readonly login: Login;
  /** `token_expire`, unread. */
  readonly seconds?: Value | undefined;
  /** What the audit says about the request. */
  readonly about?: Readonly<Record<string, string>>;
  /** What to say to a user who may not log in from there. */
  readonly refused: () => ApiError;
}

/** The token with its data and the rules of the user. */
export async function logIn(api: Api, exchange: Exchange, request: LoginRequest): Promise<PlainDict> {
  const { settings, master, loginLimits } = api;
  const { seconds, about, refused } = request;
  const from = exchange.peer.address;
  const login = withCertificate(api, exchange, request.login);
  // Certificates and identity providers say who it is; with a password nobody learns whether it was right.
  const known = login.certificate === undefined && login.username !== '';
  if (known && !mayLogIn(settings, login.username, from)) throw refused();
  const made = await loginLimits.run(`login ${from}`, () => master.login(login, from, seconds, about));
  if (mayLogIn(settings, textField(made, 'name') ?? '', from)) return made;
  await master.logout(textField(made, 'token') ?? '', from);
  throw refused();
}

function withCertificate({ certificates }: Api, exchange: Exchange, login: Login): Login {
  if (login.eauth !== certificateModule) return login;
  if (certificates) return { ...login, password: '', certificate: certificates.claim(exchange) };
  throw new ApiError(401, 'Could not authenticate using provided credentials', {
    code: 'auth.failed',
    hint: 'Certificates of clients are not accepted here.',
  });
}

/** `api_acl`: the own entry of a user, else `*`, else nobody. */
export function mayLogIn({ apiAcl }: ApiSettings, user: string, from: string): boolean {
  if (!apiAcl) return true;
  const places = apiAcl.get(user) ?? apiAcl.get('*') ?? [];
  return places.includes('*') || isListed(from, places);
}
