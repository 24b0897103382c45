// Signing requests to AWS (signature version 4).
import { createHash, createHmac } from 'node:crypto';

export interface Credentials {
  readonly keyid: string;
  readonly key: string;
  readonly token?: string | undefined;
}

export interface Signed {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
  readonly region: string;
  readonly service: string;
  readonly time: Date;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const mac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** The headers that authenticate the request. */
export function signedHeaders(request: Signed, { keyid, key, token }: Credentials): Record<string, string> {
  const stamp = request.time.toISOString().replace(/[-:]|\.\d+/g, '');
  const day = stamp.slice(0, 8);
  const headers: Record<string, string> = {
    host: request.url.host,
    'x-amz-date': stamp,
    ...(token === undefined ? {} : { 'x-amz-security-token': token }),
  };
  const names = Object.keys(headers).sort();
  const query = [...request.url.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
  const canonical = [
    request.method,
    request.url.pathname,
    query,
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    names.join(';'),
    sha256(request.body),
  ].join('\n');
  const scope = `${day}/${request.region}/${request.service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n');
  const signing = mac(mac(mac(mac(`AWS4${key}`, day), request.region), request.service), 'aws4_request');
  const signature = mac(signing, text).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${keyid}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { ...headers, authorization };
}
