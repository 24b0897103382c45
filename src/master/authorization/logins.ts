// Logins with a name and a password, and the tokens they make: who a caller is, and which rules apply. Every failure
// is answered alike, and takes about as long as the slowest one.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pyRepr } from '../../base/codec/python/index.ts';
import { asList, asNumber, dictGet, isDict, newDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { secretMask } from '../../base/log/redact.ts';
import { Tally } from '../../base/metrics/index.ts';
import type { Accepted, AuthSession } from '../../extend/sdk/index.ts';
import { isToken, type StoredToken, type TokenStore } from '../../store/tokens/tokens.ts';
import type { AuthModules } from './auth-modules.ts';
import { configuredRules, type Identity } from './external-auth.ts';
import { type Rule, readRules } from './rules.ts';
import { type Counted, Throttle } from './throttle.ts';

export interface LoginParts {
  readonly opts: Pick<MasterOpts, 'raw'>;
  readonly log: Pick<Logger, 'info' | 'limited'>;
  readonly modules: Pick<AuthModules, 'session' | 'block'>;
  readonly tokens: TokenStore;
  readonly throttle?: Throttle;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
  readonly now?: () => number;
}

/** As given by a caller: anything may be missing. */
export interface GivenLogin {
  readonly eauth: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Of which the API says that the caller holds its key, with those of authorities behind it. */
  readonly certificate?: readonly Uint8Array[];
}

/** Where a login comes from; undefined for the local socket, whose users have no address. */
export type Origin = string | undefined;

const [leastMs, mostMs] = [1_000, 10_000];
/** Logins that are under way, failed ones that wait for their answer included. */
const mostPending = 256;
const longestName = 256;
/** Tokens of identity providers are the longest passwords. */
const longestPassword = 32 * 1024;
const [mostByUserAndAddress, mostByAddress, mostByUser] = [10, 30, 100];
const longestTokenSeconds = 10 * 365 * 24 * 3600;

/** `throttled`: not even tried. */
const loginResults = ['accepted', 'refused', 'throttled'] as const;

export class Logins {
  readonly counts = new Tally<(typeof loginResults)[number]>(loginResults);
  readonly #parts: LoginParts;
  readonly #throttle: Throttle;
  #pending = 0;
  #longestMs = leastMs;

  constructor(parts: LoginParts) {
    this.#parts = parts;
    this.#throttle = parts.throttle ?? new Throttle();
  }

  /** Throws auth.failed. */
  async login(given: GivenLogin, from: Origin): Promise<Identity> {
    const { eauth = '', username } = given;
    const counted = countedFor(eauth, username ?? '', from);
    const waitMs = this.#throttle.waitOf(counted);
    if (waitMs > 0 || this.#pending >= mostPending) this.counts.add('throttled');
    if (waitMs > 0) throw failure(username, `Too many failed logins: wait ${Math.ceil(waitMs / 1000)} seconds.`);
    if (this.#pending >= mostPending) throw failure(username, 'Too many logins at the same time: try again later.');
    this.#pending += 1;
    const { now = Date.now } = this.#parts;
    const started = now();
    try {
      const identity = await this.#check(given);
      this.counts.add('accepted');
      this.#throttle.succeeded(counted.filter(({ most }) => most === mostByUserAndAddress));
      return identity;
    } catch (error) {
      this.counts.add('refused');
      this.#throttle.failed(counted);
      this.#report(given, from, error);
      await this.#slowDown(now() - started);
      throw failure(username);
    } finally {
      this.#pending -= 1;
    }
  }

  /** Who a token stands for; throws auth.failed. */
  async ofToken(token: string): Promise<Identity> {
    const found = await this.lookUp(token);
    const identity = found && (await this.#identityOf(found).catch((error: unknown) => this.#broken('token', error)));
    if (!identity) throw tokenFailure();
    return identity;
  }

  async #identityOf(found: StoredToken): Promise<Identity> {
    const { name, eauth } = found;
    const session = await this.#parts.modules.session(eauth);
    const groups = found.groups ?? (await session.groups?.(name)) ?? [];
    const keeps = this.#parts.opts.raw['keep_acl_in_token'] === true;
    return { name, eauth, groups, ...(keeps && found.rules ? { rules: found.rules } : {}) };
  }

  /** Problems of the master itself are for its log: strangers learn nothing about its files and servers. */
  #broken(what: string, error: unknown): undefined {
    this.#parts.log.limited(`login:${what}`, 'error', 'a login cannot be checked', { what, why: messageOf(error) });
    return undefined;
  }

  /** Callers learn that it is not their fault: a client that hears of a wrong token forgets it. */
  async #stored<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      this.#broken('token', error);
      throw new HaliteError('store.unavailable', 'The master cannot reach its tokens now.');
    });
  }

  /** A token that is valid now, whose module is still configured. */
  async lookUp(token: string): Promise<StoredToken | undefined> {
    if (!isToken(token)) return undefined;
    const found = await this.#stored(this.#parts.tokens.get(token));
    return found && this.#parts.modules.block(found.eauth) ? found : undefined;
  }

  /** As in Salt, a caller who may choose the time and sends something else than a number is refused. */
  async makeToken(identity: Identity, wanted?: Value): Promise<StoredToken> {
    const { opts, tokens } = this.#parts;
    const { name, eauth, groups } = identity;
    const own = Number(opts.raw['token_expire'] ?? 43_200);
    const may = wanted !== undefined && mayChoose(opts.raw['token_expire_user_override'], eauth, name);
    const chosen = asNumber(wanted);
    if (may && chosen === undefined) throw new HaliteError('auth.failed', 'Authentication error occurred.');
    const seconds = Math.min(may && chosen !== undefined && chosen >= 1 ? chosen : own, longestTokenSeconds);
    const start = Date.now() / 1000;
    const rules = opts.raw['keep_acl_in_token'] === true ? await this.#listOf(identity) : undefined;
    return this.#stored(
      tokens.create({ name, eauth, groups, start, expire: start + seconds, ...(rules ? { rules } : {}) }),
    );
  }

  /** A new token that ends when this one would have ended; this one is dead. Undefined when it is not valid. */
  async renew(token: string): Promise<StoredToken | undefined> {
    const found = await this.lookUp(token);
    if (!found) return undefined;
    const { token: _old, ...data } = found;
    const made = await this.#stored(this.#parts.tokens.create({ ...data, start: Date.now() / 1000 }));
    await this.dropToken(token);
    return made;
  }

  dropToken(token: string): Promise<boolean> {
    return this.#stored(this.#parts.tokens.delete(token));
  }

  listTokens(): Promise<StoredToken[]> {
    return this.#stored(this.#parts.tokens.list());
  }

  /** The same as they are written in the configuration, for programs that show a user what the user may do. */
  async permsOf(identity: Identity): Promise<Value> {
    const listed = await this.#listOf(identity).catch(() => []);
    const byText = new Map(listed.map((rule) => [typeof rule === 'string' ? rule : pyRepr(rule), rule]));
    const [texts, maps] = [false, true].map((map) =>
      [...byText].filter(([, rule]) => isDict(rule) === map).sort(([a], [b]) => (a < b ? -1 : 1)),
    );
    const perms = [...texts!, ...maps!].map(([, rule]) => rule);
    return perms.length > 0 ? perms : newDict();
  }

  /** The rules that apply to a user now. */
  async rulesOf(identity: Identity): Promise<Rule[]> {
    try {
      const rules = readRules(await this.#listOf(identity));
      const session = await this.#parts.modules.session(identity.eauth);
      return session.minions ? await expanded(rules, session) : rules;
    } catch (error) {
      // Without rules nothing is permitted.
      this.#broken('rules', error);
      return [];
    }
  }

  async #listOf(identity: Identity) {
    const { opts, modules } = this.#parts;
    const { name, eauth, rules } = identity;
    const block = modules.block(eauth);
    if (!block) throw new HaliteError('auth.failed', `The eauth system "${eauth}" is not enabled`);
    if (rules) return [...rules];
    const other = String(opts.raw['eauth_acl_module'] || eauth);
    const theirs = await (await modules.session(other)).rules?.(name, eauth);
    return theirs ? [...theirs] : configuredRules(block, identity, opts.raw['permissive_acl'] === true);
  }

  async #check({ eauth = '', username, password, certificate }: GivenLogin): Promise<Identity> {
    const { opts, modules } = this.#parts;
    if (username === undefined || password === undefined) throw refused('name and password must be texts');
    if (username.length > longestName || password.length > longestPassword)
      throw refused('name or password is too long');
    const session = await modules.session(eauth);
    const accepted: Accepted | undefined = await session.check({
      ...{ username, password },
      ...(certificate ? { certificate } : {}),
    });
    if (!accepted) throw refused('the module does not accept them');
    const name = accepted.username ?? username;
    // Directories and databases ignore spaces around a name, which the rules compare.
    if (name === '' || name !== name.trim() || name.length > longestName || /[\x00-\x1f\x7f]/.test(name))
      throw refused('not a user name');
    const groups = accepted.groups ?? (await session.groups?.(name)) ?? [];
    const identity = { name, eauth, groups };
    if (!accepted.rules) return identity;
    const block = modules.block(eauth);
    const own = block ? configuredRules(block, identity, opts.raw['permissive_acl'] === true) : [];
    return { ...identity, rules: [...own, ...accepted.rules] };
  }

  /** The administrator sees the reason; the caller does not. */
  #report({ eauth = '', username = '', password }: GivenLogin, from: Origin, error: unknown): void {
    const why = password ? messageOf(error).replaceAll(password, secretMask) : messageOf(error);
    const fields = { eauth: eauth.slice(0, 64), user: username.slice(0, 64), from: from ?? 'local socket', why };
    this.#parts.log.limited(`login:${fields.from}:${fields.user}`, 'warn', 'login refused', fields);
  }

  async #slowDown(tookMs: number): Promise<void> {
    this.#longestMs = Math.min(Math.max(this.#longestMs, tookMs), mostMs);
    const wanted = (this.#longestMs * randomInt(750, 1251)) / 1000;
    const wait = this.#parts.wait ?? sleep;
    if (wanted > tookMs) await wait(wanted - tookMs);
  }
}

function countedFor(eauth: string, username: string, from: Origin): Counted[] {
  const user = `${eauth.slice(0, 64)}\0${username.slice(0, longestName)}`;
  return [
    { key: `${user}\0${from ?? ''}`, most: mostByUserAndAddress },
    // Modules that know the name themselves are asked without one: strangers must not block all of their users.
    ...(username === '' ? [] : [{ key: user, most: mostByUser }]),
    ...(from === undefined ? [] : [{ key: `address\0${from}`, most: mostByAddress }]),
  ];
}

const tokenFailure = (): HaliteError =>
  new HaliteError('auth.failed', 'Authentication failure of type "token" occurred.');

const refused = (why: string): HaliteError => new HaliteError('auth.failed', why);

function failure(username: string | undefined, hint?: string): HaliteError {
  const who = username ? ` for user ${username.slice(0, longestName)}` : '';
  return new HaliteError('auth.failed', `Authentication failure of type "eauth" occurred${who}.`, hint ? { hint } : {});
}

/** `token_expire_user_override`: true, or {module: [names]}. */
function mayChoose(override: MasterOpts['raw'][string] | undefined, eauth: string, name: string): boolean {
  if (override === true) return true;
  const names = isDict(override) ? dictGet(override, eauth) : undefined;
  return (asList(names) ?? []).includes(name);
}

async function expanded(rules: readonly Rule[], session: AuthSession): Promise<Rule[]> {
  const out: Rule[] = [];
  for (const rule of rules) {
    const ids = rule.scope === undefined ? undefined : session.minions?.(rule.scope);
    if (!ids) out.push(rule);
    else {
      const known = await ids;
      if (known.length > 0) out.push({ ...rule, scope: `L@${known.join(',')}` });
    }
  }
  return out;
}
