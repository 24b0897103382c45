// `/login`: a token for a name and a password.
import { numberField, textField } from '../../base/codec/fields.ts';
import { asPlainDict, newDict, type PlainDict, PyFloat } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Api } from '../api.ts';
import { certificateModule } from '../client-certificates.ts';
import { bodyValue } from '../http/body.ts';
import { cookieHeader } from '../http/credentials.ts';
import { ApiError, fromMaster, noPermission } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { logIn, mayLogIn } from '../log-in.ts';

export async function loginPage(_api: Api, exchange: Exchange): Promise<void> {
  const value = newDict([
    ['status', null],
    ['return', 'Please log in'],
  ]);
  exchange.send({ value, headers: { 'WWW-Authenticate': 'Session' } });
}

const refused = (extras = {}): ApiError =>
  new ApiError(401, 'Could not authenticate using provided credentials', extras);

async function fieldsOf(exchange: Exchange): Promise<PlainDict> {
  const body = await exchange.body();
  if (!body) throw new ApiError(400, 'The login is empty: it needs username, password and eauth');
  const value = bodyValue(body);
  const fields = asPlainDict(Array.isArray(value) ? value[0] : value);
  if (!fields) throw new ApiError(400, 'The login must be a map with username, password and eauth');
  return fields;
}

export async function login(api: Api, exchange: Exchange, _rest = '', refusal?: ApiError): Promise<void> {
  const fields = await fieldsOf(exchange);
  const eauth = textField(fields, 'eauth');
  // A certificate needs neither.
  const usual = eauth === certificateModule ? '' : undefined;
  const [username = usual, password = usual] = ['username', 'password'].map((name) => textField(fields, name));
  const { settings, master } = api;
  if (username === undefined || password === undefined || eauth === undefined) {
    // That the master is away is said first.
    await master.reach();
    throw mayLogIn(settings, username ?? '', exchange.peer.address) ? refused() : noPermission();
  }
  const login = { username, password, eauth };
  const made = await logIn(api, exchange, { login, seconds: fields['token_expire'], refused: noPermission }).catch(
    async (error: unknown) => {
      const known = fromMaster(error);
      if (error instanceof ApiError && error.status === 401) await master.reach();
      throw error instanceof HaliteError && error.code === 'auth.failed' && known?.status === 401 ? refused() : error;
    },
  );
  const token = textField(made, 'token') ?? '';
  if (refusal) {
    // Nobody gets to know this token.
    await master.logout(token, exchange.peer.address);
    throw refusal;
  }
  const [start, expire] = [numberField(made, 'start') ?? 0, numberField(made, 'expire') ?? 0];
  const shown = newDict([
    ['token', token],
    ['expire', new PyFloat(expire)],
    ['start', new PyFloat(start)],
    ['user', made['name'] ?? username],
    ['eauth', made['eauth'] ?? eauth],
    ['perms', made['perms'] ?? newDict()],
  ]);
  const cookie = cookieHeader(token, {
    path: settings.rootPrefix,
    seconds: expire - Date.now() / 1000,
    secure: exchange.peer.secure,
    foreign: settings.corsOrigin.some((origin) => origin !== '*'),
  });
  exchange.send({
    value: newDict([['return', [shown]]]),
    headers: {
      'X-Auth-Token': token,
      'Cache-Control': 'private, no-store',
      ...(settings.enableSessions ? { 'Set-Cookie': cookie } : {}),
    },
  });
}
