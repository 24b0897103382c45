// Secret store `consul`: the key/value store of Consul over HTTP.
import { type Dict, defineSdb, dictGet, type ModuleContext, pyStr, type Value } from 'halite/sdk';
import { type HttpAnswer, type HttpCall, hostPort, httpCall } from '../shared/http/request.ts';
import { numberOf, textOf } from './shared/profile.ts';

function ask(key: string, profile: Dict, ctx: ModuleContext, more: Partial<HttpCall>): Promise<HttpAnswer> {
  const place = hostPort(textOf(profile, 'host') ?? '127.0.0.1', numberOf(profile, 8500, 'port'));
  const url = new URL(
    `${textOf(profile, 'scheme') ?? 'http'}://${place}/v1/kv/${key.split('/').map(encodeURIComponent).join('/')}`,
  );
  const [dc, consistency, token] = [textOf(profile, 'dc'), textOf(profile, 'consistency'), textOf(profile, 'token')];
  if (dc !== null) url.searchParams.set('dc', dc);
  const reading = more.method === undefined;
  if (reading && (consistency === 'consistent' || consistency === 'stale')) url.searchParams.set(consistency, '1');
  const verify = dictGet(profile, 'verify');
  return httpCall({
    service: 'consul',
    url: url.href,
    headers: token === null ? {} : { 'x-consul-token': token },
    secrets: [token],
    signal: ctx.signal,
    tls: typeof verify === 'string' ? { ca: verify } : { verify: verify !== false },
    accept: [404],
    ...more,
  });
}

export default defineSdb({
  name: 'consul',
  doc: 'Keys of Consul: `host`, `port`, `scheme`, `token`, `dc`, `consistency`, `verify`.',
  async get(key, profile, ctx): Promise<Value> {
    const answer = await ask(key, profile, ctx, {});
    if (answer.status === 404) return null;
    const [entry] = JSON.parse(answer.text) as { Value?: string | null }[];
    return typeof entry?.Value === 'string' ? Buffer.from(entry.Value, 'base64').toString('utf8') : null;
  },
  async set(key, value, profile, ctx): Promise<Value> {
    const answer = await ask(key, profile, ctx, { method: 'PUT', body: pyStr(value) });
    return answer.text.trim() === 'true';
  },
});
