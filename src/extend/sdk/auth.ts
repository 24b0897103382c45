// External authentication: modules named in `external_auth`, which decide who a caller is.
import type { Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';
import type { ArgsOf, Params } from './params.ts';

/** What a caller presents. Nothing else of a request reaches a module. */
export interface Login {
  readonly username: string;
  readonly password: string;
  /**
   * The certificate (DER) whose key the caller has proven to hold over TLS, then those of authorities that came with it.
   * Only salt-api can add it; a module that ignores it loses nothing.
   */
  readonly certificate?: readonly Uint8Array[];
}

/** A login that was accepted. */
export interface Accepted {
  /** The name that rules apply to, when the module knows a better one than the caller gave. */
  readonly username?: string;
  readonly groups?: readonly string[];
  /** Rules of this user from outside the master's configuration, in the same form as there. */
  readonly rules?: readonly Value[];
}

export interface AuthContext {
  /** The master's options. */
  readonly opts: Readonly<Record<string, Value>>;
  readonly log: ExtensionLog;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}

/** An open module, used until the master stops. */
export interface AuthSession {
  /** Undefined refuses the login; throwing refuses it too, and is logged. */
  check(login: Login): Promise<Accepted | undefined> | Accepted | undefined;
  /** Groups of a user who logged in earlier; without it those of the login are remembered. */
  groups?(username: string): Promise<readonly string[]>;
  /** Rules of a user who logged in with any module (`eauth_acl_module`); undefined: those of the configuration apply. */
  rules?(username: string, eauth: string): Promise<readonly Value[] | undefined>;
  /** The ids that a target of a rule stands for, when it is no target of Salt but of this module (`ldap(…)`). */
  minions?(target: string): Promise<readonly string[]> | undefined;
}

export interface AuthSpec<S extends Params = Params> {
  readonly name: string;
  /** The name in `external_auth` when it differs from that of the file. */
  readonly virtualName?: string;
  readonly doc: string;
  /** Entries of its block in `external_auth` that begin with `^`, without this character. */
  readonly settings?: S;
  /** Warnings about the way it is used, which the master logs when it starts. */
  readonly caution?: string;
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  open(settings: ArgsOf<S>, ctx: AuthContext): Promise<AuthSession> | AuthSession;
}

/** A module as seen by loaders. */
export interface Auth {
  readonly kind: 'auth';
  readonly name: string;
  readonly virtualName?: string;
  readonly doc: string;
  readonly settings: Params;
  readonly caution?: string;
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  open(settings: never, ctx: AuthContext): Promise<AuthSession> | AuthSession;
}

const authKeys: KnownKeys<AuthSpec> = {
  ...{ name: true, virtualName: true, doc: true, settings: true },
  ...{ caution: true, available: true, open: true },
};

export function defineAuth<const S extends Params = Record<never, never>>(spec: AuthSpec<S>): Auth {
  return { kind: 'auth', settings: {}, ...withKnownKeys('defineAuth()', spec, authKeys) };
}
