// Which caller may request what from the master: local users authenticate with their key file; everything else is
// refused.
import { asList, type Dict, dictEntries, dictGet, dictOf, isDict, type Value } from '../../base/codec/value.ts';
import { parseInput } from '../../base/codec/yaml/index.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { type AskedJob, privilegedOptions } from '../../protocol/job/job.ts';
import type { ClearCredentials } from '../../protocol/wire/messages/clear.ts';
import type { Targets } from '../publish/targets.ts';
import { aclAllows, type Covers, isBlacklisted, type RequestedCall } from './publisher-acl.ts';
import type { UserKeys } from './user-keys.ts';

export interface Caller {
  readonly user: string;
}

export interface AuthorizationParts {
  readonly opts: Pick<MasterOpts, 'raw' | 'user' | 'sudo_acl'>;
  readonly userKeys: Pick<UserKeys, 'proves'>;
  readonly targets: Pick<Targets, 'match'>;
}

/** The prefix with which commands name a user who used sudo. */
const sudoMark = 'sudo_';

export type Credentials = Partial<Pick<ClearCredentials, 'token' | 'eauth' | 'user' | 'key'>>;

export class Authorization {
  readonly #parts: AuthorizationParts;

  constructor(parts: AuthorizationParts) {
    this.#parts = parts;
  }

  /**
   * Authenticates the caller or throws auth.failed. Tokens and eauth are refused with a clear message until external
   * auth exists.
   */
  authenticateCaller(given: Credentials): Caller {
    if (given.token || given.eauth) {
      throw new HaliteError('auth.failed', 'External authentication is not configured on this master.', {
        hint: 'Run the command as the master’s user on the master host, without -a / --auth.',
      });
    }
    const user = given.user || 'root';
    if (!this.#parts.userKeys.proves(user, given.key, this.#isMasterUser(user) || user.startsWith(sudoMark))) {
      throw new HaliteError('auth.failed', `Authentication failure of type "user" occurred for user ${user}.`, {
        hint: 'Run the command as root, or give the user rights with publisher_acl and restart the master.',
      });
    }
    return { user };
  }

  /** Root and the master's user, and users with sudo unless rules apply to them too. */
  hasFullRights({ user }: Caller): boolean {
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
    const refuse = (why: string): never => {
      throw new HaliteError(
        'auth.denied',
        `Authorization error occurred: user ${user} may not run ${functions.join(', ')}${why}.`,
        {
          hint: 'Ask the administrator to change publisher_acl or publisher_acl_blacklist in the master configuration.',
        },
      );
    };
    if (isBlacklisted(raw['publisher_acl_blacklist'], user, functions)) refuse(': publisher_acl_blacklist forbids it');
    if (this.hasFullRights(caller)) return request;
    const account = user.startsWith(sudoMark) ? user.slice(sudoMark.length) : user;
    const reserved = reservedOption(request);
    if (reserved) refuse(` with ${reserved}: only users with full rights may choose it`);
    // Node groups are those of the master: a user who is limited by them must not define them.
    const { nodegroups: _own, ...own } = request;
    const limited = { ...own, foreign: true };
    const reach = new Reach(this.#parts.targets, limited);
    if (!aclAllows(raw['publisher_acl'], account, calls, reach.covers)) refuse(' on this target');
    return reach.limited ? { ...limited, only: new Set(reach.wanted()) } : limited;
  }

  /** Runners, wheel and key functions are for the master's own users only. */
  authorizeMaster(caller: Caller, what: string): void {
    if (this.#isMasterUser(caller.user) || caller.user.startsWith(sudoMark)) return;
    throw new HaliteError('auth.denied', `Authorization error occurred: user ${caller.user} may not run ${what}.`);
  }

  #isMasterUser(user: string): boolean {
    return user === 'root' || user === String(this.#parts.opts.user ?? 'root');
  }
}

/** Options that run something else on minions: returners write and connect, executors run commands. */
function reservedOption({ ret, options }: AskedJob): string | undefined {
  if (ret) return 'a returner (ret)';
  return privilegedOptions.find((name) => options && Object.hasOwn(options, name));
}

/** Several functions have a list of arguments each. */
function requestedCalls({ fun, arg }: AskedJob): RequestedCall[] {
  if (typeof fun === 'string') return [{ fun, ...argumentsOf(arg) }];
  return fun.map((name, at) => {
    const own = arg[at];
    return { fun: name, ...argumentsOf(asList(own) ?? []) };
  });
}

/**
 * As minions bind them: maps marked as keywords and texts of the form `name=value` are named, the last of a name
 * applies.
 */
function argumentsOf(list: readonly Value[]): { args: Value[]; kwargs: Dict } {
  const args: Value[] = [];
  const named: [Value, Value][] = [];
  for (const item of list) {
    if (isDict(item) && dictGet(item, '__kwarg__') === true) named.push(...dictEntries(item));
    else {
      const keyword = typeof item === 'string' ? dictEntries(parseInput([item], { condition: false }).kwargs) : [];
      if (keyword.length > 0) named.push(...keyword);
      else args.push(item);
    }
  }
  return { args, kwargs: dictOf(named) };
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
    const covered = allowed.size > 0 && this.wanted().every((id) => allowed.has(id));
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
