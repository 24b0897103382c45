// Which caller may request what from the master: local users authenticate with their key file, all others with
// external authentication; everything else is refused.
import { asList } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import { type AskedJob, identityOptions, privilegedOptions } from '../../protocol/job/job.ts';
import { parseTarget, resolve } from '../../protocol/target/index.ts';
import type { ClearCredentials } from '../../protocol/wire/messages/clear.ts';
import type { Targets } from '../publish/targets.ts';
import { argumentsOf } from './call-arguments.ts';
import type { Identity } from './external-auth.ts';
import type { Logins, Origin } from './logins.ts';
import { aclRules, isBlacklisted } from './publisher-acl.ts';
import {
  type Covers,
  isUnlimited,
  type MasterKind,
  permitsEach,
  permitsMaster,
  permitsPublish,
  type RequestedCall,
  type Rule,
  readRules,
  rulesValue,
} from './rules.ts';
import type { UserKeys } from './user-keys.ts';
import { ViewRights } from './view-rights.ts';

/** A user of this machine, or one of external authentication: the same name does not make them the same user. */
export interface Caller {
  readonly user: string;
  readonly external?: {
    readonly type: 'token' | 'eauth';
    readonly identity: Identity;
    readonly rules: readonly Rule[];
  };
}

export interface AuthorizationParts {
  readonly opts: Pick<MasterOpts, 'raw' | 'user' | 'sudo_acl'>;
  readonly userKeys: Pick<UserKeys, 'proves'>;
  readonly targets: Pick<Targets, 'match' | 'nodegroups'>;
  readonly logins: Pick<Logins, 'login' | 'ofToken' | 'rulesOf'>;
}

/** The prefix with which commands name a user who used sudo. */
const sudoMark = 'sudo_';

export type Credentials = Partial<ClearCredentials>;

export class Authorization {
  readonly #parts: AuthorizationParts;

  constructor(parts: AuthorizationParts) {
    this.#parts = parts;
  }

  /** Authenticates the caller or throws auth.failed. A token is looked at first, then a login, then a key. */
  async authenticateCaller(given: Credentials, from?: Origin): Promise<Caller> {
    const { logins } = this.#parts;
    if (given.token !== undefined && given.token !== '')
      return this.#external('token', await logins.ofToken(given.token));
    if (given.eauth !== undefined && given.eauth !== '') {
      const { eauth, username, password } = given;
      return this.#external('eauth', await logins.login({ eauth, username, password }, from));
    }
    const user = given.user || 'root';
    if (!this.#parts.userKeys.proves(user, given.key, this.#isMasterUser(user) || user.startsWith(sudoMark))) {
      throw new HaliteError('auth.failed', `Authentication failure of type "user" occurred for user ${user}.`, {
        hint: 'Run the command as root, or give the user rights with publisher_acl and restart the master.',
      });
    }
    return { user };
  }

  async #external(type: 'token' | 'eauth', identity: Identity): Promise<Caller> {
    return { user: identity.name, external: { type, identity, rules: await this.#parts.logins.rulesOf(identity) } };
  }

  /** Root and the master's user, and users with sudo unless rules apply to them too. */
  hasFullRights({ user, external }: Caller): boolean {
    if (external) return false;
    return this.#isMasterUser(user) || (user.startsWith(sudoMark) && !this.#parts.opts.sudo_acl);
  }

  /**
   * Returns the request that may be published: unchanged for root, the master's user and sudo; the blacklist
   * applies to them too. For other users the minions that they may reach are added to it.
   */
  authorizePublish(caller: Caller, request: AskedJob): AskedJob {
    const { user } = caller;
    const { raw } = this.#parts.opts;
    const calls = requestedCalls(request);
    const functions = calls.map(({ fun }) => fun);
    const refuse = (why: string): never => denied(caller, functions.join(', '), why);
    if (isBlacklisted(raw['publisher_acl_blacklist'], user, functions)) refuse(': publisher_acl_blacklist forbids it');
    const { authList: fromAbove, fromAbove: _circle, ...plain } = request;
    const trusted = this.hasFullRights(caller);
    // Only the user of this master may act for somebody else; an empty list is a user with full rights there.
    if (trusted && !fromAbove?.length) return request;
    const rules = trusted ? readRules([...(fromAbove ?? [])]) : this.#rulesOf(caller);
    const reserved = trusted ? undefined : reservedOption(request, isUnlimited(rules));
    if (reserved) refuse(` with ${reserved}: only users with full rights may choose it`);
    // Node groups are those of the master: a user who is limited by them must not define them.
    const { nodegroups: _own, ...own } = trusted ? request : plain;
    const exact = isUnlimited(rules) ? {} : { exactPillar: true };
    // Lower masters check the rules against their own minions.
    const below = raw['order_masters'] === true ? { authList: rulesValue(rules) } : {};
    const limited = { ...own, ...below, foreign: true, ...exact };
    const reach = new Reach(this.#parts.targets, limited);
    if (!permitsPublish(rules, calls, reach.covers)) refuse(' on this target');
    // Minions would compare patterns with their pillar, and their answers would tell what is in it.
    if (limited.exactPillar && asksForPillar(request)) reach.limited = true;
    return reach.limited ? { ...limited, only: new Set(reach.wanted()) } : limited;
  }

  /**
   * A job of salt-ssh on these hosts, or on some host while it is not known yet which: the rules for minions, but
   * nothing except their names is known of hosts, so a rule for a grain or a pillar value covers none.
   */
  authorizeSsh(caller: Caller, request: Pick<AskedJob, 'fun' | 'arg'>, ids?: readonly string[]): void {
    const calls = requestedCalls(request);
    const functions = calls.map(({ fun }) => fun);
    const { opts, targets } = this.#parts;
    const refuse = (why: string): never => denied(caller, functions.join(', '), why);
    if (isBlacklisted(opts.raw['publisher_acl_blacklist'], caller.user, functions))
      refuse(': publisher_acl_blacklist forbids it');
    if (this.hasFullRights(caller)) return;
    const hosts = (ids ?? []).map((id) => ({ id }));
    const covers = (expression: string): boolean => {
      if (!ids) return true;
      const { matched } = resolve(parseTarget(expression, 'compound', { nodegroups: targets.nodegroups }), hosts);
      return hosts.length > 0 && matched.length === hosts.length;
    };
    if (!permitsEach(this.#rulesOf(caller), calls, covers)) refuse(' on these hosts');
  }

  /** What the caller may look at. Nothing, when the blacklist names the user. */
  viewOf(caller: Caller): ViewRights {
    const { opts, targets } = this.#parts;
    const operator = this.hasFullRights(caller);
    const blocked = isBlacklisted(opts.raw['publisher_acl_blacklist'], caller.user, []);
    return new ViewRights({
      rules: operator || blocked ? [] : this.#rulesOf(caller),
      operator: operator && !blocked,
      targets,
    });
  }

  #rulesOf({ user, external }: Caller): readonly Rule[] {
    if (external) return external.rules;
    const account = user.startsWith(sudoMark) ? user.slice(sudoMark.length) : user;
    return aclRules(this.#parts.opts.raw['publisher_acl'], account);
  }

  /** Runners and wheel functions: for the master's own users, and with rules that begin with `@`. */
  authorizeFunction(caller: Caller, kind: MasterKind, call: RequestedCall): void {
    const what = `${kind === 'runners' ? 'runner' : 'wheel'} ${call.fun}`;
    if (!caller.external) {
      this.authorizeOperator(caller, what);
      return;
    }
    const { raw } = this.#parts.opts;
    if (isBlacklisted(raw['publisher_acl_blacklist'], caller.user, [])) deniedFunction(caller, what);
    if (!permitsMaster(caller.external.rules, kind, call)) deniedFunction(caller, what);
  }

  /** Everything else that shows or changes the whole fleet: for the master's own users only. */
  authorizeOperator(caller: Caller, what: string): void {
    const { user, external } = caller;
    if (!external && (this.#isMasterUser(user) || user.startsWith(sudoMark))) return;
    throw new HaliteError('auth.denied', `Authorization error occurred: user ${user} may not run ${what}.`);
  }

  #isMasterUser(user: string): boolean {
    return user === 'root' || user === String(this.#parts.opts.user ?? 'root');
  }
}

const external = { exitCode: exitCodes.noPermission };

/** To users of external authentication with Salt's sentence, which clients of its API compare. */
function denied(caller: Caller, functions: string, why: string): never {
  const reason = `user ${caller.user} may not run ${functions}${why}.`;
  if (caller.external)
    throw new HaliteError('auth.denied', 'Authorization error occurred.', {
      hint: `Why: ${reason}`,
      details: external,
    });
  throw new HaliteError('auth.denied', `Authorization error occurred: ${reason}`, {
    hint: 'Ask the administrator to change publisher_acl or publisher_acl_blacklist in the master configuration.',
  });
}

function deniedFunction({ user, external: from }: Caller, what: string): never {
  const text = `Authentication failure of type "${from?.type ?? 'user'}" occurred for user ${user}.`;
  throw new HaliteError('auth.denied', text, { hint: `Why: no rule of this user permits ${what}.`, details: external });
}

const asksForPillar = ({ tgt, tgt_type }: AskedJob): boolean =>
  tgt_type.startsWith('pillar') || (tgt_type === 'compound' && /[IJ]@/.test(String(tgt)));

/**
 * Options that run something else on minions: returners write and connect, executors run commands. Whoever may run every
 * function there gains nothing by them. Nobody may speak in the name of another minion or master.
 */
function reservedOption({ ret, options }: AskedJob, unlimited: boolean): string | undefined {
  if (ret && !unlimited) return 'a returner (ret)';
  const reserved = unlimited ? identityOptions : privilegedOptions;
  return reserved.find((name) => options && Object.hasOwn(options, name));
}

/** Several functions have a list of arguments each. */
function requestedCalls({ fun, arg }: Pick<AskedJob, 'fun' | 'arg'>): RequestedCall[] {
  if (typeof fun === 'string') return [{ fun, ...argumentsOf(arg) }];
  return fun.map((name, at) => {
    const own = arg[at];
    return { fun: name, ...argumentsOf(asList(own) ?? []) };
  });
}

/** Which minions a request would reach, and whether a rule for some minions covers them. */
class Reach {
  /** A rule for some minions was needed. */
  limited = false;
  readonly #targets: AuthorizationParts['targets'];
  readonly #request: AskedJob;
  readonly #covered = new Map<string, boolean>();
  #wanted: string[] | undefined;

  constructor(targets: AuthorizationParts['targets'], request: AskedJob) {
    this.#targets = targets;
    this.#request = request;
  }

  /** Minions that cannot be evaluated here may be any minions, so a rule for some minions does not cover them. */
  readonly covers: Covers = (expression) => {
    const known = this.#covered.get(expression);
    if (known !== undefined) return known;
    if (expression !== '*') this.limited = true;
    const allowed = new Set(this.#targets.match(expression, 'compound').matched);
    // A rule for some minions permits nothing on nobody: new minions may match the target when it is published.
    const wanted = this.wanted();
    const covered = wanted.length > 0 && wanted.every((id) => allowed.has(id));
    this.#covered.set(expression, covered);
    return covered;
  };

  wanted(): string[] {
    if (!this.#wanted) {
      const { matched, unknown } = this.#targets.match(this.#request.tgt, this.#request.tgt_type, this.#request);
      this.#wanted = [...matched, ...unknown];
    }
    return this.#wanted;
  }
}
