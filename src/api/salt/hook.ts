// `/hook`: an event for the reactor from any program outside.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { newDict } from '../../base/codec/value.ts';
import type { Api } from '../api.ts';
import { postedValue } from '../http/body.ts';
import { ApiError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Caller } from '../master.ts';
import type { WebhookSecret } from '../settings.ts';
import { nameOf } from './root.ts';

/** Everybody on the bus would see them. */
const secretHeaders = new Set(['x-auth-token', 'cookie', 'authorization', 'proxy-authorization']);

export async function hook(api: Api, exchange: Exchange, caller: Caller | undefined, rest: string): Promise<void> {
  const body = await exchange.body();
  if (!caller) requireSignature(api.settings.webhookSecrets, exchange, rest, body?.bytes ?? Buffer.alloc(0));
  const post = postedValue(body);
  const data = newDict([
    ['body', body?.text ?? ''],
    ['post', post],
    ['headers', newDict(Object.entries(headersOf(exchange)))],
  ]);
  const args = newDict([
    ['path', rest],
    ['data', data],
  ]);
  const { master, limits } = api;
  const key = caller ? undefined : api.hookKey();
  if (!caller && key === undefined)
    throw new ApiError(503, 'Hooks without a token are not possible', {
      hint: 'The master has no key for them: give it the block of the API in its configuration and restart it.',
    });
  const by = caller ? { token: caller.token } : { hookKey: key! };
  // One sender cannot keep the others out.
  const sender = caller ? nameOf(caller) : `hook ${exchange.peer.address}`;
  await limits.run(sender, () => master.hook(by, exchange.peer.address, args));
  exchange.send({ value: newDict([['success', true]]) });
}

/** The longest entry that begins the path decides: `/` is for all others. */
function requireSignature(secrets: readonly WebhookSecret[], { request }: Exchange, rest: string, bytes: Buffer): void {
  const path = `/${rest}`;
  const [own] = secrets
    .filter((each) => each.path === '/' || path === each.path || path.startsWith(`${each.path}/`))
    .sort((a, b) => b.path.length - a.path.length);
  if (!own) return;
  const given = request.headers[own.header];
  const wanted = createHmac('sha256', own.secret).update(bytes).digest();
  const found = Buffer.from(/^(?:sha256=)?([0-9a-f]{64})$/i.exec(String(given ?? ''))?.[1] ?? '', 'hex');
  if (found.length !== wanted.length || !timingSafeEqual(found, wanted))
    throw new ApiError(401, 'The signature of the webhook is missing or wrong');
}

function headersOf({ request, peer }: Exchange): Record<string, string> {
  const shown: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(request.headers)) {
    if (secretHeaders.has(name) || value === undefined) continue;
    shown[name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())] = Array.isArray(value)
      ? value.join(', ')
      : value;
  }
  shown['Remote-Addr'] = peer.address;
  return shown;
}
