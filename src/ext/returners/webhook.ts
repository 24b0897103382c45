// Returner `webhook`: sends results and events to any HTTP address, with custom headers, body and signature.
import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { defineReturner, dictEntries, HaliteError, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { basicAuth, type HttpCall, httpCall } from '../shared/http/request.ts';
import { contentId, toJson } from './shared/loads.ts';
import { fillTemplate } from './shared/template.ts';

const methods = new Set(['POST', 'PUT', 'PATCH']);

/** Retries with doubled delays while the server is unreachable or busy. */
async function persistently(call: HttpCall, retries: number, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await httpCall(call);
      return;
    } catch (error) {
      const away = error instanceof HaliteError && error.code === 'store.unavailable';
      if (!away || attempt >= retries || signal.aborted) throw error;
      await wait(Math.min(500 * 2 ** attempt, 10_000), undefined, { signal });
    }
  }
}

export default defineReturner({
  name: 'webhook',
  doc:
    'Sends every result, or every event as `{"tag": …, "data": …}`, as JSON to an HTTP address. Each request carries ' +
    '`Idempotency-Key`, the same for the same content, and with `secret` a signature: `X-Halite-Signature: ' +
    'sha256=<HMAC of the body>`.',
  keeps: ['events'],
  options: {
    url: p.string({ doc: 'The address.' }),
    method: p.string({ default: 'POST', doc: '`POST`, `PUT` or `PATCH`.' }),
    headers: p.dict({ default: newDict(), doc: 'Further headers.' }),
    username: p.string({ default: null, doc: 'User for basic authentication.' }),
    password: p.string({ default: null, doc: 'Password for basic authentication.' }),
    body: p.string({ default: null, doc: 'A template for the text, with the fields of the result; without it, JSON.' }),
    content_type: p.string({ default: 'application/json', doc: 'The content type.' }),
    timeout: p.float({ default: 30, doc: 'Seconds to wait for an answer.' }),
    retries: p.int({ default: 2, doc: 'The number of retries while the server is unreachable.' }),
    secret: p.string({ default: null, doc: 'Key of the signature.' }),
    signature_header: p.string({ default: 'X-Halite-Signature', doc: 'The header of the signature.' }),
    verify_ssl: p.bool({ default: true, doc: "Check the server's certificate." }),
    ca: p.path({ default: null, doc: 'File of the certificate authority.' }),
    cert: p.path({ default: null, doc: 'File of the client certificate.' }),
    key: p.path({ default: null, doc: 'File of its key.' }),
  },
  open(given, ctx) {
    const method = given.method.toUpperCase();
    if (!methods.has(method))
      throw new HaliteError('config.value', `webhook.method is POST, PUT or PATCH, not ${method}`);
    const own = dictEntries(given.headers).map(([name, value]: [Value, Value]) => [pyStr(name), pyStr(value)] as const);
    const { username, password, secret } = given;
    const headersFor = (body: string): Record<string, string> => ({
      'content-type': given.content_type,
      'idempotency-key': contentId(body),
      ...(username !== null && password !== null ? { authorization: basicAuth(username, password) } : {}),
      ...(secret === null
        ? {}
        : { [given.signature_header]: `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }),
      ...Object.fromEntries(own),
    });
    const send = async (data: PlainDict): Promise<void> => {
      const body =
        given.body === null ? toJson(data) : await fillTemplate(ctx, { option: 'body', source: given.body }, data);
      const call: HttpCall = {
        service: 'webhook',
        url: given.url,
        method,
        body,
        headers: headersFor(body),
        timeoutMs: given.timeout * 1000,
        tls: { verify: given.verify_ssl, ca: given.ca, cert: given.cert, key: given.key },
        // Tokens are often headers; short values are not masked, because they are ordinary words.
        secrets: [password, secret, ...own.map(([, value]) => value).filter((value) => value.length >= 12)],
        signal: ctx.signal,
      };
      await persistently(call, given.retries, ctx.signal);
    };
    return {
      save: send,
      async saveEvents(events) {
        for (const { tag, data } of events)
          await send(
            newDict([
              ['tag', tag],
              ['data', data],
            ]),
          );
      },
    };
  },
});
