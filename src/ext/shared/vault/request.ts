// One request to Vault's HTTP interface; the token never appears in a message.
import { fieldOf, HaliteError, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { httpCall, joinUrl } from '../http/request.ts';

export interface VaultServer {
  readonly url: string;
  /** Of Vault Enterprise. */
  readonly namespace?: string | null | undefined;
  /** false accepts every certificate, a text is the path of the CA file. */
  readonly verify?: Value | undefined;
}

export interface VaultAsk {
  readonly method?: string;
  /** The path after `/v1/`. */
  readonly path: string;
  readonly token?: string | null;
  readonly json?: string;
  readonly signal?: AbortSignal | undefined;
}

export interface VaultAnswer {
  readonly status: number;
  readonly url: string;
  /** The answer's JSON; null when it has none. */
  readonly body: Value;
}

const timeoutMs = 120_000;
/** Does not throw for any status; the caller interprets it. */
const anyStatus = Array.from({ length: 300 }, (_, at) => 300 + at);

export async function askVault(server: VaultServer, ask: VaultAsk): Promise<VaultAnswer> {
  const { verify, namespace } = server;
  const url = joinUrl(server.url, 'v1', ask.path);
  const answer = await httpCall({
    service: 'vault',
    url,
    method: ask.method ?? (ask.json === undefined ? 'GET' : 'POST'),
    headers: {
      ...(ask.token ? { 'x-vault-token': ask.token } : {}),
      ...(namespace ? { 'x-vault-namespace': namespace } : {}),
    },
    ...(ask.json === undefined ? {} : { json: ask.json }),
    tls: typeof verify === 'string' ? { ca: verify } : { verify: verify !== false },
    timeoutMs,
    accept: anyStatus,
    secrets: [ask.token],
    ...(ask.signal ? { signal: ask.signal } : {}),
  });
  return { status: answer.status, url, body: readBody(answer.text) };
}

function readBody(text: string): Value {
  try {
    return text.trim() === '' ? null : loadJson(text);
  } catch {
    return null;
  }
}

/** A field of the answer's body. */
export function answerField(answer: VaultAnswer, name: string): Value | undefined {
  return fieldOf(answer.body, name);
}

export const isOk = (answer: VaultAnswer): boolean => answer.status < 400;

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  412: 'Precondition Failed',
  429: 'Too Many Requests',
  472: 'Disaster Recovery mode replication secondary and active',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

export const reasonOf = (status: number): string => reasons[status] ?? 'Unknown';

/** Throws for an error status, with the message of Python's requests. */
export function checkStatus(answer: VaultAnswer): void {
  if (isOk(answer)) return;
  const whose = answer.status < 500 ? 'Client' : 'Server';
  throw new HaliteError(
    'call.failed',
    `HTTPError: ${answer.status} ${whose} Error: ${reasonOf(answer.status)} for url: ${answer.url}`,
    { details: { status: answer.status } },
  );
}

/** A text of the options under `vault`. */
export function vaultText(config: PlainDict | undefined, name: string): string | null {
  const value = config?.[name];
  return value === undefined || value === null ? null : pyStr(value);
}
