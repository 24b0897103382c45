// Who may ask the master for what: local users by their key file; everything else is refused until it is proven.
import { type Dict, dictEntries, dictGet, dictOf, isDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { HaliteError } from '../base/errors/index.ts';
import type { Master } from './core.ts';
import type { PublishRequest } from './publish.ts';
import { aclAllows, type Covers, isBlacklisted, type Wish } from './publisher-acl.ts';
import { matchFleet } from './targets.ts';

export interface Caller {
  readonly user: string;
}

/** How commands name somebody who came through sudo. */
const sudoMark = 'sudo_';
const isMasterUser = (master: Master, user: string): boolean =>
  user === 'root' || user === String(master.opts.user ?? 'root');

/** Proves the caller or throws auth.failed. Tokens and eauth are answered clearly until external auth exists. */
export function authenticateCaller(master: Master, load: PlainDict): Caller {
  if (load['token'] || load['eauth']) {
    throw new HaliteError('auth.failed', 'External authentication is not configured on this master.', {
      hint: 'Run the command as the master’s user on the master host, without -a / --auth.',
    });
  }
  const user = typeof load['user'] === 'string' && load['user'] !== '' ? load['user'] : 'root';
  if (!master.userKeys.proves(user, load['key'], isMasterUser(master, user) || user.startsWith(sudoMark))) {
    throw new HaliteError('auth.failed', `Authentication failure of type "user" occurred for user ${user}.`, {
      hint: 'Run the command as root, or give the user rights with publisher_acl and restart the master.',
    });
  }
  return { user };
}

/** What of a publish its permission depends on. */
export type PublishWish = Pick<PublishRequest, 'tgt' | 'tgt_type' | 'fun' | 'arg' | 'delimiter' | 'nodegroups'>;

/** Whether a proven user may publish this; root, the master's user and sudo may what the blacklist leaves. */
export function authorizePublish(master: Master, caller: Caller, wish: PublishWish): void {
  const { user } = caller;
  const { raw, sudo_acl } = master.opts;
  const wishes = wishesOf(wish);
  const functions = wishes.map(({ fun }) => fun);
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
  const sudo = user.startsWith(sudoMark);
  if (isMasterUser(master, user) || (sudo && !sudo_acl)) return;
  const account = sudo ? user.slice(sudoMark.length) : user;
  if (!aclAllows(raw['publisher_acl'], account, wishes, coversOf(master, wish))) refuse(' on this target');
}

/** Several functions come with a list of arguments each. */
function wishesOf({ fun, arg }: PublishWish): Wish[] {
  if (typeof fun === 'string') return [{ fun, ...argumentsOf(arg) }];
  return fun.map((name, at) => {
    const own = arg[at];
    return { fun: name, ...argumentsOf(Array.isArray(own) ? own : []) };
  });
}

function argumentsOf(list: readonly Value[]): { args: Value[]; kwargs: Dict } {
  const isNamed = (value: Value): value is Dict => isDict(value) && dictGet(value, '__kwarg__') === true;
  const kwargs = dictOf(list.filter(isNamed).flatMap((named) => dictEntries(named)));
  return { args: list.filter((value) => !isNamed(value)), kwargs };
}

/** Minions that cannot be evaluated here may be anything, so a rule for some minions does not cover them. */
function coversOf(master: Master, wish: PublishWish): Covers {
  let wanted: string[] | undefined;
  return (expression) => {
    if (!wanted) {
      const { matched, unknown } = matchFleet(master, wish.tgt, wish.tgt_type, wish);
      wanted = [...matched, ...unknown];
    }
    const allowed = new Set(matchFleet(master, expression, 'compound').matched);
    return allowed.size > 0 && wanted.every((id) => allowed.has(id));
  };
}

/** Runners, wheel and key functions are for the master's own users only. */
export function authorizeMaster(master: Master, caller: Caller, what: string): void {
  if (isMasterUser(master, caller.user) || caller.user.startsWith(sudoMark)) return;
  throw new HaliteError('auth.denied', `Authorization error occurred: user ${caller.user} may not run ${what}.`);
}
