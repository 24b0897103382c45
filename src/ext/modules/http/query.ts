// http.query: builds the request from Salt's options and formats the answer.

import { join } from 'node:path';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import {
  commandError,
  dictEntries,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyRepr,
  pyStr,
  pythonError,
  saltCompatVersion,
  type Value,
} from 'halite/sdk';
import { loadJson, loadYaml } from 'halite/sdk/codec';
import { existsSync, readFileSync, readText, writeFileSync } from 'halite/sdk/fs';
import { netReason } from 'halite/sdk/net';
import { parseXml, xmlToDict } from '../../shared/serializers/xml.ts';
import { ask, type WebProxy, type WebRequest, type WebResponse } from './request.ts';
import { keepSession, saveJar, sessionCookie } from './session.ts';

type Options = Readonly<PlainDict>;
const GiB = 1024 ** 3;

const bundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/tls/certs/ca-bundle.trust.crt',
  '/etc/ssl/certs/ca-bundle.crt',
  '/var/lib/ca-certificates/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** The CA certificates: the option `ca_bundle`, a file in the file roots, or the system's. */
function caBundle(opts: Options): string | undefined {
  const set = opts['ca_bundle'];
  if (set && existsSync(pyStr(set))) return pyStr(set);
  const roots = isDict(opts['file_roots'] ?? null) ? (opts['file_roots'] as PlainDict)['base'] : undefined;
  const inRoots = (Array.isArray(roots) ? roots : []).flatMap((root) =>
    ['cacert.pem', 'ca-bundle.crt'].map((name) => join(pyStr(root), name)),
  );
  return [...inRoots, ...bundles].find((path) => existsSync(path));
}

/** `{a: 1, b: [2, 3]}` → `a=1&b=…`, as Python's urlencode does it. */
function formText(value: Value): string {
  if (!isDict(value)) return pyStr(value);
  const quote = (item: Value): string =>
    encodeURIComponent(pyStr(item))
      .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%20', '+');
  return dictEntries(value)
    .map(([key, item]) => `${quote(key)}=${quote(item)}`)
    .join('&');
}

/** The text of a file, rendered if it is a template. */
async function fileText(
  path: Value,
  render: Value,
  renderer: Value,
  options: Options,
  ctx: ModuleContext,
): Promise<Value> {
  if (!render) return readFileSync(pyStr(path), 'utf8');
  const variables = isDict(options['template_dict'] ?? null) ? (options['template_dict'] as PlainDict) : newDict();
  const pipe = renderer ? { renderer: pyStr(renderer) } : {};
  return ctx.renderFile(pyStr(path), { ...pipe, context: variables });
}

async function headersFor(options: Options, ctx: ModuleContext): Promise<Record<string, string>> {
  let [dict, list] = [options['header_dict'] ?? null, options['header_list'] ?? null];
  if (options['header_file']) {
    const { header_file, header_render, header_renderer } = options as Record<string, Value>;
    const made = await fileText(header_file ?? '', header_render ?? null, header_renderer ?? null, options, ctx);
    if (isDict(made)) dict = made;
    else list = pyStr(made).split('\n');
  }
  const headers: Record<string, string> = {};
  if (isDict(dict)) for (const [key, value] of dictEntries(dict)) headers[pyStr(key)] = pyStr(value);
  for (const line of Array.isArray(list) ? list.map(pyStr) : []) {
    const at = line.indexOf(':');
    if (at > 0) headers[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  const agent = options['agent'];
  headers['User-agent'] = agent ? pyStr(agent) : `Salt/${saltCompatVersion} http.query()`;
  return headers;
}

function proxyFor(url: string, opts: Options): WebProxy | undefined {
  const { proxy_host: host, proxy_port: port, proxy_username: name, proxy_password: password } = opts;
  const except = Array.isArray(opts['no_proxy']) ? opts['no_proxy'].map(pyStr) : [];
  if (!host || !port || except.includes(new URL(url).hostname)) return undefined;
  return {
    host: pyStr(host),
    port: Number(port),
    auth: name && password ? `${pyStr(name)}:${pyStr(password)}` : undefined,
  };
}

function tlsFor(options: Options, opts: Options): WebRequest['tls'] {
  const verify = options['verify_ssl'] ?? opts['verify_ssl'] ?? true;
  const bundle = options['ca_bundle'] ? pyStr(options['ca_bundle']) : caBundle(opts);
  const cert = options['cert'] ?? opts['cert'] ?? null;
  const [own, key] = Array.isArray(cert) ? cert.map(pyStr) : cert ? [pyStr(cert), pyStr(cert)] : [];
  const usable = own !== undefined && key !== undefined && existsSync(own) && existsSync(key);
  return {
    rejectUnauthorized: Boolean(verify),
    ...(verify && bundle !== undefined ? { ca: readFileSync(bundle) } : {}),
    ...(usable ? { cert: readFileSync(own), key: readFileSync(key) } : {}),
  };
}

/** A form with one file in it. */
function multipart(options: Options, data: string): { type: string; body: string } {
  const edge = `halite-${process.pid}-${Date.now().toString(36)}`;
  const name = pyStr(options['formdata_fieldname'] ?? '');
  const file = options['formdata_filename'] ? `; filename="${pyStr(options['formdata_filename'])}"` : '';
  return {
    type: `multipart/form-data; boundary=${edge}`,
    body: `--${edge}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${data}\r\n--${edge}--\r\n`,
  };
}

function decompressed(answer: WebResponse): Buffer {
  const coding = answer.headers['Content-Encoding'] ?? 'identity';
  if (answer.body.length === 0) return answer.body;
  if (coding === 'gzip') return gunzipSync(answer.body, { maxOutputLength: GiB });
  if (coding === 'deflate') return inflateRawSync(answer.body, { maxOutputLength: GiB });
  const names: Readonly<Record<string, string>> = { sdch: 'SDCH', br: 'Brotli', compress: 'LZW' };
  if (names[coding]) throw new Error(`${names[coding]} compression is not currently supported`);
  return answer.body;
}

/** The body as text; as bytes when asked not to decode. */
function bodyOf(answer: WebResponse, decode: boolean): Value {
  const bytes = decompressed(answer);
  const charset = /^text\/[^;]*;.*charset="?([^";\s]+)/i.exec(answer.headers['Content-Type'] ?? '')?.[1];
  if (!decode && charset === undefined) return bytes;
  try {
    // Python's names for it have a hyphen or an underscore.
    return new TextDecoder((charset ?? 'utf-8').replace(/^latin[-_]1$/i, 'latin1')).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}

const decodeTypes = ['json', 'xml', 'yaml', 'plain'];

function decodeType(options: Options, headers: WebResponse['headers']): string {
  const asked = pyStr(options['decode_type'] ?? 'auto');
  if (asked !== 'auto') return asked;
  const type = headers['Content-Type'] ?? 'application/json';
  return ['xml', 'json', 'yaml'].find((kind) => type.includes(kind)) ?? 'plain';
}

/** With this backend Salt does not catch connection errors: the function fails with the library's message. */
function unreachable(address: string, reason: string): Error {
  const url = new URL(address);
  const scheme = url.protocol === 'https:' ? 'HTTPS' : 'HTTP';
  const port = url.port || (scheme === 'HTTPS' ? '443' : '80');
  const peer = `(host='${url.hostname}', port=${port})`;
  const named = /^\[Errno -\d\]/.test(reason);
  const cause = named
    ? `NameResolutionError("${scheme}Connection${peer}: Failed to resolve '${url.hostname}' (${reason})")`
    : `NewConnectionError("${scheme}Connection${peer}: Failed to establish a new connection: ${reason}")`;
  const text = `${scheme}ConnectionPool${peer}: Max retries exceeded with url: ${url.pathname}${url.search} (Caused by ${cause})`;
  return pythonError('ConnectionError', text);
}

/** Adds the requested parts to the answer. */
function shape(ret: PlainDict, answer: WebResponse, options: Options): PlainDict {
  const text = ret['body'] ?? '';
  const out = (name: string, content: Value): void => {
    const path = options[name];
    if (path) writeFileSync(pyStr(path), content instanceof Uint8Array ? content : pyStr(content));
  };
  out('text_out', text);
  const headerFile = options['headers_out'];
  if (headerFile && existsSync(pyStr(headerFile))) out('headers_out', formatHeaders(answer.headers));
  if (options['status']) ret['status'] = answer.status;
  if (options['headers']) ret['headers'] = newDict(Object.entries(answer.headers));
  let asText = Boolean(options['text']);
  if (options['decode']) {
    const kind = decodeType(options, answer.headers);
    if (!decodeTypes.includes(kind)) {
      ret['error'] =
        `Invalid decode_type specified. Valid decode types are: (${decodeTypes.map((item) => pyRepr(item)).join(', ')})`;
      return ret;
    }
    if (kind === 'json') ret['dict'] = loadJson(pyStr(text));
    else if (kind === 'yaml') ret['dict'] = loadYaml(pyStr(text));
    else if (kind === 'xml') ret['dict'] = parseXml(pyStr(text)).children.map(xmlToDict);
    else asText = true;
    out('decode_out', text);
  }
  if (asText) ret['text'] = text;
  return ret;
}

const formatHeaders = (headers: WebResponse['headers']): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');

async function prepare(url: string, options: Options, opts: Options, ctx: ModuleContext): Promise<WebRequest> {
  const headers = await headersFor(options, ctx);
  if (options['persist_session']) {
    const cookie = sessionCookie(jarPath(options, 'session_cookie_jar', 'cookies.session.p', opts));
    if (cookie !== undefined) headers['Cookie'] = cookie;
  }
  const { data_file, data_render, data_renderer, username, password, params } = options as Record<string, Value>;
  const data = data_file
    ? await fileText(data_file, data_render ?? null, data_renderer ?? null, options, ctx)
    : (options['data'] ?? null);
  let body = data === null ? undefined : data instanceof Uint8Array ? data : formText(data);
  const proxy = proxyFor(url, opts);
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const method = pyStr(options['method'] ?? 'GET');
  if (options['formdata']) {
    const form = multipart(options, body === undefined ? '' : body.toString());
    headers['Content-Type'] = form.type;
    body = form.body;
  } else if (!typed && (isDict(data) || proxy) && method === 'POST')
    headers['Content-Type'] = 'application/x-www-form-urlencoded';
  if (body !== undefined) headers['Content-Length'] = String(Buffer.byteLength(body));
  const query = params ? formText(params) : '';
  const auth = Array.isArray(options['auth']) ? options['auth'].map(pyStr).join(':') : undefined;
  return {
    url: query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`,
    method,
    headers,
    auth: auth ?? (username && password ? `${pyStr(username)}:${pyStr(password)}` : undefined),
    body,
    tls: url.startsWith('https:') ? tlsFor(options, opts) : {},
    proxy,
    connectMs: Number(opts['http_connect_timeout'] ?? 20) * 1000,
    totalMs: Number(opts['http_request_timeout'] ?? 3600) * 1000,
    maxBytes: Math.min(Number(opts['http_max_body'] ?? GiB), GiB),
    signal: ctx.signal,
  };
}

const jarPath = (options: Options, name: string, fallback: string, opts: Options): string =>
  options[name] ? pyStr(options[name] ?? '') : join(pyStr(opts['cachedir'] ?? '/var/cache/salt/minion'), fallback);

/** Sends the request. Failures are part of the answer: `{status, error}`. */
export async function query(given: string, options: Options, ctx: ModuleContext): Promise<PlainDict> {
  const opts = newDict([
    ...Object.entries(ctx.opts),
    ...(isDict(options['opts'] ?? null) ? Object.entries(options['opts'] as PlainDict) : []),
  ]);
  const ret = newDict();
  let url = given;
  if (options['test']) {
    if (options['test_url'] === undefined || options['test_url'] === null) return ret;
    url = pyStr(options['test_url']);
    ret['test'] = true;
  }
  if (options['formdata'] && !options['formdata_fieldname'])
    return newDict([['error', 'formdata_fieldname is required when formdata=True']]);
  if (!/^https?:/i.test(url)) throw commandError(`Unsupported url scheme: ${url}`);
  const request = await prepare(url, options, opts, ctx);
  let answer: WebResponse;
  try {
    answer = await ask(request);
  } catch (error) {
    ctx.signal.throwIfAborted();
    const reason = netReason(error);
    if (options['backend'] === 'requests') throw unreachable(url, reason);
    if (options['raise_error'] === false) {
      if (options['status']) ret['status'] = 599;
      ret['body'] = null;
      return ret;
    }
    if (reason.startsWith('HTTP 599')) ret['status'] = 599;
    else if (options['status']) ret['status'] = 0;
    ret['error'] = reason;
    return ret;
  }
  const body = bodyOf(answer, options['decode_body'] !== false);
  const fine = answer.status >= 200 && answer.status < 300;
  if (!fine && options['raise_error'] !== false) {
    ret['status'] = answer.status;
    ret['error'] = `HTTP ${answer.status}: ${answer.reason}`;
    ret['body'] = body;
    return ret;
  }
  ret['body'] = body;
  remember(answer, options, opts);
  return shape(ret, answer, options);
}

function remember(answer: WebResponse, options: Options, opts: Options): void {
  const cookie = answer.headers['Set-Cookie'];
  if (options['cookies'])
    saveJar(jarPath(options, 'cookie_jar', 'cookies.txt', opts), options['cookie_format'] ?? 'lwp', cookie);
  if (options['persist_session'] && cookie !== undefined)
    keepSession(jarPath(options, 'session_cookie_jar', 'cookies.session.p', opts), cookie);
}

/** Fetches the bundle of certificates and appends further ones. */
export async function updateBundle(target: Value, source: Value, merge: Value, ctx: ModuleContext): Promise<void> {
  const path = target ? pyStr(target) : caBundle(newDict(Object.entries(ctx.opts)));
  if (path === undefined || !source) {
    ctx.log.error('No bundle of certificates to write, or no address (ca_bundle_url) to take it from');
    return;
  }
  const got = await query(pyStr(source), newDict([['text', true]]), ctx);
  if (typeof got['text'] !== 'string' || got['text'] === '') return;
  const more = (Array.isArray(merge) ? merge : merge ? [merge] : []).map((file) => readText(pyStr(file)) ?? '');
  const extra = more.filter((text) => text !== '').map((text) => `\n\n${text}`);
  writeFileSync(path, got['text'] + extra.join(''));
}
