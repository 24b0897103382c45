// The options of the API, read once and completely: an option with a wrong value stops the start.
import {
  asList,
  asNumber,
  asText,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  isTexts,
  type PlainDict,
  type Value,
} from '../base/codec/value.ts';
import { type RestBlock, restBlock } from '../base/config/rest-block.ts';
import { HaliteError } from '../base/errors/index.ts';
import { parseNetwork } from '../base/util/ip.ts';

export interface ApiSettings {
  readonly port: number;
  readonly hosts: readonly string[];
  /** Undefined: without TLS. */
  readonly tls: { readonly crt: string; readonly key: string; readonly chain: string | undefined } | undefined;
  /** Whose certificates of clients are accepted; undefined when nobody logs in with one, and without TLS. */
  readonly clientAuthorities: ClientAuthorities | undefined;
  readonly rootPrefix: string;
  readonly webhookUrl: string;
  readonly webhookDisableAuth: boolean;
  /** Signatures that hooks without a token need, by the beginning of their path. */
  readonly webhookSecrets: readonly WebhookSecret[];
  readonly collectStats: boolean;
  /** Undefined: requests are not written to a file. */
  readonly accessFile: string | undefined;
  /** The login methods for SaltGUI; undefined: `salt-auth.txt` is a file like others. */
  readonly saltguiMethods: readonly string[] | undefined;
  readonly statsDisableAuth: boolean;
  readonly enableSessions: boolean;
  readonly threadPool: number;
  readonly queueSize: number;
  readonly maxBodyBytes: number;
  readonly static: string | undefined;
  readonly staticPath: string;
  readonly app: string | undefined;
  readonly appPath: string;
  readonly favicon: string | undefined;
  /** Whether `/console/` is there: with `console: true`, or when no other page was set. */
  readonly console: boolean;
  readonly authorizedIps: readonly string[] | undefined;
  /** Who may log in from where; undefined: everybody from everywhere. */
  readonly apiAcl: ReadonlyMap<string, readonly string[]> | undefined;
  readonly corsOrigin: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly eventStreams: number;
  readonly clients: ReadonlySet<string>;
  /** The modules of `external_auth`. */
  readonly eauth: readonly string[];
  /** Undefined when browsers cannot be sent to a provider. */
  readonly singleSignOn: SingleSignOn | undefined;
  readonly rawShell: boolean;
  readonly restTimeoutMs: number;
  /** Options that do nothing here, with the name of the block. */
  readonly strangers: readonly string[];
}

/** The client that the provider of `external_auth: oidc` knows; the master reads the rest. */
export interface SingleSignOn {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly secretFile: string | undefined;
  readonly scopes: readonly string[];
  readonly label: string | undefined;
  /** Undefined: the address under which the browser knows this API. */
  readonly redirectUri: string | undefined;
}

/** Files of `external_auth: pki`. */
export interface ClientAuthorities {
  readonly ca: string;
  /** Undefined: no certificate is revoked. */
  readonly crl: string | undefined;
}

/** One entry of `webhook_secrets`. */
export interface WebhookSecret {
  /** Below the address of hooks: `/github`. */
  readonly path: string;
  /** In small letters. */
  readonly header: string;
  readonly secret: string;
}

/** Modules whose proof is not something that a person types. */
const withoutPassword = new Set(['oidc', 'pki']);

/** Options of Salt that need nothing here, and those that the master reads. */
const unused = [
  ...['debug', 'expire_responses', 'log_error_file', 'queue_size', 'api_events', 'login_throttle', 'websockets'],
  'address',
];

export function readApiSettings(raw: PlainDict): ApiSettings {
  const block = restBlock(raw);
  if (!block || dictGet(block.options, 'port') === undefined)
    throw new HaliteError('config.value', 'Did not find any netapi configurations, nothing to start', {
      hint: 'Add a block rest_cherrypy with a port to the master configuration (docs/guide/api.md).',
    });
  return new Reader(block).all(raw);
}

class Reader {
  readonly #name: string;
  readonly #options: Dict;
  readonly #read = new Set<Value>(unused);

  constructor({ name, options }: RestBlock) {
    this.#name = name;
    this.#options = options;
  }

  all(raw: PlainDict): ApiSettings {
    const enabled = isTexts(raw['netapi_enable_clients']) ? raw['netapi_enable_clients'] : [];
    const disabled = isTexts(raw['netapi_disable_clients']) ? raw['netapi_disable_clients'] : [];
    const tls = this.#tls();
    const settings = {
      port: this.#number('port', 0, 0, 65_535),
      hosts: this.#hosts(),
      tls,
      clientAuthorities: tls && clientAuthorities(raw['external_auth']),
      rootPrefix: withoutEnd(this.#text('root_prefix') ?? '/'),
      webhookUrl: this.#path('webhook_url', '/hook'),
      webhookDisableAuth: this.#flag('webhook_disable_auth', false),
      webhookSecrets: this.#webhookSecrets(),
      statsDisableAuth: this.#flag('stats_disable_auth', false),
      collectStats: this.#flag('collect_stats', false),
      accessFile: this.#text('log_access_file') || undefined,
      saltguiMethods: saltguiMethods(raw),
      enableSessions: this.#flag('enable_sessions', true),
      threadPool: this.#number('thread_pool', 100, 1, 10_000),
      queueSize: this.#number('socket_queue_size', this.#number('queue_size', 30, 0, 100_000), 0, 100_000),
      maxBodyBytes: this.#number('max_request_body_size', 1_048_576, 0, 1_073_741_824) || 1_073_741_824,
      static: this.#text('static') || undefined,
      staticPath: this.#path('static_path', '/static'),
      app: this.#text('app') || undefined,
      appPath: this.#path('app_path', '/app'),
      favicon: this.#text('favicon') || undefined,
      console: this.#flag('console', !this.#text('app')),
      authorizedIps: this.#networks('authorized_ips'),
      apiAcl: this.#acl(raw),
      corsOrigin: this.#texts('cors_origin') ?? [],
      trustedProxies: this.#networks('trusted_proxies') ?? [],
      eventStreams: this.#number('event_streams', 200, 0, 100_000),
      clients: new Set(enabled.filter((client) => !disabled.includes(client))),
      eauth: isDict(raw['external_auth']) ? dictEntries(raw['external_auth']).map(([name]) => String(name)) : [],
      singleSignOn: this.#flag('enable_sessions', true) ? singleSignOn(raw['external_auth']) : undefined,
      rawShell: raw['netapi_allow_raw_shell'] === true,
      restTimeoutMs: (asNumber(raw['rest_timeout']) ?? 300) * 1000,
    };
    const strangers = dictEntries(this.#options).map(([name]) => String(name));
    return {
      ...settings,
      strangers: strangers.filter((name) => !this.#read.has(name)).map((name) => `${this.#name}: ${name}`),
    };
  }

  #get(name: string): Value | undefined {
    this.#read.add(name);
    const value = dictGet(this.#options, name);
    return value === null ? undefined : value;
  }

  #wrong(name: string, why: string): HaliteError {
    return new HaliteError('config.value', `${this.#name}: ${name} ${why}`, {
      hint: 'See the table of options in docs/guide/api.md.',
      details: { option: this.#name },
    });
  }

  #text(name: string): string | undefined {
    const value = this.#get(name);
    if (value !== undefined && typeof value !== 'string') throw this.#wrong(name, 'must be a text');
    return value;
  }

  #flag(name: string, fallback: boolean): boolean {
    const value = this.#get(name);
    if (value !== undefined && typeof value !== 'boolean') throw this.#wrong(name, 'must be True or False');
    return value ?? fallback;
  }

  #number(name: string, fallback: number, least: number, most: number): number {
    const given = this.#get(name);
    if (given === undefined) return fallback;
    const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : asNumber(given);
    if (value === undefined || !Number.isInteger(value) || value < least || value > most)
      throw this.#wrong(name, `must be a number from ${least} to ${most}`);
    return value;
  }

  #texts(name: string): readonly string[] | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    const list = typeof value === 'string' ? [value] : value;
    if (!isTexts(list)) throw this.#wrong(name, 'must be a text or a list of texts');
    return list;
  }

  #path(name: string, fallback: string): string {
    const value = this.#text(name) ?? fallback;
    const path = withoutEnd(value.startsWith('/') ? value : `/${value}`);
    if (path === '') throw this.#wrong(name, 'must not be the root');
    return path;
  }

  #hosts(): readonly string[] {
    const hosts = this.#texts('host') ?? this.#texts('address') ?? ['0.0.0.0'];
    if (hosts.length === 0) throw this.#wrong('host', 'is empty');
    return hosts;
  }

  #tls(): ApiSettings['tls'] {
    const [crt, key, chain] = ['ssl_crt', 'ssl_key', 'ssl_chain'].map((name) => this.#text(name) || undefined);
    if (this.#flag('disable_ssl', false)) return undefined;
    if (!crt || !key)
      throw new HaliteError(
        'config.value',
        `Not starting '${this.#name}'. Options 'ssl_crt' and 'ssl_key' are required if SSL is not disabled.`,
        { hint: 'Name the files of a certificate and its key, or set disable_ssl: True behind a proxy with TLS.' },
      );
    return { crt, key, chain };
  }

  #networks(name: string): readonly string[] | undefined {
    const list = this.#texts(name);
    const wrong = list?.find((text) => !parseNetwork(text));
    if (wrong !== undefined) throw this.#wrong(name, `has ${JSON.stringify(wrong)}, which is no address or network`);
    return list;
  }

  #webhookSecrets(): WebhookSecret[] {
    const value = this.#get('webhook_secrets');
    if (value === undefined) return [];
    if (!isDict(value)) throw this.#wrong('webhook_secrets', 'must be a map of paths');
    return dictEntries(value).map(([key, given]) => {
      const path = `/${String(key).replace(/^\/+|\/+$/g, '')}`;
      const [header, secret, type] = ['header', 'secret', 'type'].map((name) =>
        isDict(given) ? asText(dictGet(given, name)) : undefined,
      );
      if (!header || !secret) throw this.#wrong('webhook_secrets', `needs header and secret for ${path}`);
      if (type !== undefined && type !== 'hmac-sha256')
        throw this.#wrong(
          'webhook_secrets',
          `has the type ${JSON.stringify(type)} for ${path}: only hmac-sha256 exists`,
        );
      return { path, header: header.toLowerCase(), secret };
    });
  }

  /** Also as an option of its own beside the block, as in Salt. */
  #acl(raw: PlainDict): ApiSettings['apiAcl'] {
    const value = this.#get('api_acl') ?? raw['api_acl'];
    if (value === undefined || value === null) return undefined;
    const users = isDict(value) ? dictGet(value, 'users') : undefined;
    const known = new Map<string, readonly string[]>();
    // Without users nobody may log in.
    if (!isDict(users)) return known;
    for (const [name, from] of dictEntries(users)) {
      const list = typeof from === 'string' ? [from] : (asList(from) ?? []).map((each) => asText(each) ?? '');
      known.set(String(name), list);
    }
    return known;
  }
}

function clientAuthorities(modules: Value | undefined): ClientAuthorities | undefined {
  const block = isDict(modules) ? dictGet(modules, 'pki') : undefined;
  const text = (name: string): string | undefined =>
    (isDict(block) && asText(dictGet(block, name) ?? null)) || undefined;
  const ca = text('^ca_file') ?? text('ca_file');
  return ca === undefined ? undefined : { ca, crl: text('^crl_file') };
}

function singleSignOn(modules: Value | undefined): SingleSignOn | undefined {
  const block = isDict(modules) ? dictGet(modules, 'oidc') : undefined;
  const text = (name: string): string | undefined => (isDict(block) ? asText(dictGet(block, `^${name}`)) : undefined);
  const [issuer, clientId] = [text('issuer'), text('client_id')];
  if (issuer === undefined || clientId === undefined) return undefined;
  const scopes = isDict(block) ? dictGet(block, '^scopes') : undefined;
  const listed = typeof scopes === 'string' ? scopes.split(/\s+/) : scopes;
  return {
    ...{ issuer, clientId, secretFile: text('client_secret_file'), label: text('label') },
    ...{ scopes: isTexts(listed) ? listed : ['openid', 'profile', 'groups'], redirectUri: text('redirect_uri') },
  };
}

function saltguiMethods(raw: PlainDict): readonly string[] | undefined {
  const { external_auth: modules, saltgui_auth_list: wanted } = raw;
  if (wanted === false || !isDict(modules)) return undefined;
  return dictEntries(modules).flatMap(([name]) => (withoutPassword.has(String(name)) ? [] : [String(name)]));
}

const withoutEnd = (path: string): string => path.replace(/\/+$/, '');
