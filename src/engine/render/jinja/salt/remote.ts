// Asynchronous filters that use the network: http_query and dns_check.
import { loadJson } from '../../../../base/codec/json/index.ts';
import { loadYaml } from '../../../../base/codec/yaml/index.ts';
import { HaliteError, messageOf } from '../../../../base/errors/index.ts';
import { intOf } from '../filters/support.ts';
import { urlQuote } from '../filters/text.ts';
import { define, defineBound, type FunctionTable, tableOf } from '../runtime/define.ts';
import { PyDict } from '../runtime/dict.ts';
import { Bridge } from '../runtime/host.ts';
import { toArray, truth } from '../runtime/iterate.ts';
import { textOf } from '../runtime/markup.ts';
import { str } from '../runtime/print.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { PyValue } from '../runtime/value.ts';

const requestSeconds = 3600;
const maxBody = 100 * 1024 * 1024 * 1024;

function pairsText(value: PyValue): string {
  if (!(value instanceof PyDict)) return str(value);
  return [...value.entries()].map(([key, item]) => `${urlQuote(key, true)}=${urlQuote(item, true)}`).join('&');
}

function headersFrom(options: ReadonlyMap<string, PyValue>): Headers {
  const headers = new Headers({ 'User-agent': 'Salt http.query()' });
  const dict = options.get('header_dict');
  if (dict instanceof PyDict) for (const [key, item] of dict.entries()) headers.set(str(key), str(item));
  const list = options.get('header_list');
  if (list !== undefined && list !== null) {
    for (const line of toArray(list).map(str)) {
      const at = line.indexOf(':');
      if (at > 0) headers.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
    }
  }
  const [user, password] = [options.get('username'), options.get('password')];
  if (user !== undefined && user !== null && password !== undefined && password !== null) {
    headers.set('Authorization', `Basic ${Buffer.from(`${str(user)}:${str(password)}`).toString('base64')}`);
  }
  return headers;
}

/** Decoded body by declared or requested type. */
function decoded(text: string, type: string): PyValue | undefined {
  try {
    if (/json/.test(type)) return new Bridge().in(loadJson(text));
    if (/yaml/.test(type)) return new Bridge().in(loadYaml(text));
  } catch {
    return undefined;
  }
  return undefined;
}

async function httpQuery(rt: Runtime, url: PyValue, options: ReadonlyMap<string, PyValue>): Promise<PyValue> {
  const flag = (name: string): boolean => {
    const option = options.get(name);
    return option !== undefined && truth(option);
  };
  const result = new PyDict();
  const params = options.get('params');
  const query = params === undefined || params === null ? '' : pairsText(params);
  const address = str(url);
  const target = query === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${query}`;
  const data = options.get('data');
  const deadline = AbortSignal.timeout(requestSeconds * 1000);
  try {
    const response = await fetch(target, {
      method: options.has('method') ? str(options.get('method')!) : 'GET',
      headers: headersFrom(options),
      body: data === undefined || data === null ? undefined : pairsText(data),
      signal: rt.hooks.signal === undefined ? deadline : AbortSignal.any([rt.hooks.signal, deadline]),
    });
    const body = await response.text();
    if (!response.ok && options.get('raise_error') !== false) {
      result.set('status', response.status);
      result.set('error', `HTTP ${response.status}: ${response.statusText}`);
      result.set('body', body);
      return result;
    }
    result.set('body', body.slice(0, maxBody));
    if (flag('status')) result.set('status', response.status);
    if (flag('headers')) result.set('headers', PyDict.from([...response.headers.entries()]));
    if (flag('decode')) {
      const asked = textOf(options.get('decode_type') ?? 'auto') ?? 'auto';
      const value = decoded(body, asked === 'auto' ? (response.headers.get('content-type') ?? 'json') : asked);
      if (value !== undefined) result.set('dict', value);
    }
    if (flag('text')) result.set('text', body);
  } catch (error) {
    rt.checkAbort();
    if (flag('status')) result.set('status', 0);
    result.set('error', messageOf((error as Error).cause ?? error));
  }
  return result;
}

async function reachable(host: string, port: number): Promise<boolean> {
  const { connect } = await import('node:net');
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2000 });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

/** The first address of a name that answers on the port, else the first address. */
async function dnsCheck(address: PyValue, port: PyValue, ipv6: PyValue): Promise<PyValue> {
  const failure = new HaliteError('call.failed', `DNS lookup or connection check of '${str(address)}' failed.`);
  const { lookup } = await import('node:dns/promises');
  const family = ipv6 === null ? 0 : truth(ipv6) ? 6 : 4;
  let found = await lookup(str(address), { all: true, family }).catch(() => []);
  if (found.length === 0 && family === 6) found = await lookup(str(address), { all: true, family: 4 }).catch(() => []);
  if (found.length === 0) throw failure;
  let chosen = found[0]!;
  for (const candidate of found) {
    if (!(await reachable(candidate.address, intOf(port)))) continue;
    chosen = candidate;
    break;
  }
  return chosen.family === 6 ? `[${chosen.address}]` : chosen.address;
}

export const remoteFilters: FunctionTable = tableOf({
  http_query: defineBound('query', 'url, **kwargs', (rt, { values, named }) => httpQuery(rt, values[0]!, named), {
    waits: true,
  }),
  dns_check: define(
    'dns_check',
    'addr, port, safe=False, ipv6=None',
    (_rt, address, port, _safe, ipv6) => dnsCheck(address!, port!, ipv6!),
    { waits: true },
  ),
});
