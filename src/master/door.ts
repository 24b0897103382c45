// Who may ask the master for what: local users by their key file; everything else is refused until it is proven.
import type { PlainDict } from '../base/codec/value.ts';
import { HaliteError } from '../base/errors/index.ts';
import { matchesGlob } from '../base/util/fnmatch.ts';
import { pyRegexFull } from '../base/util/pyregex.ts';
import type { Master } from './core.ts';

export interface Caller {
  readonly user: string;
}

/** Proves the caller or throws auth.failed. Tokens and eauth are answered clearly until external auth exists. */
export function authenticateCaller(master: Master, load: PlainDict): Caller {
  if (load['token'] || load['eauth']) {
    throw new HaliteError('auth.failed', 'External authentication is not configured on this master.', {
      hint: 'Run the command as the master’s user on the master host, without -a / --auth.',
    });
  }
  const user = typeof load['user'] === 'string' && load['user'] !== '' ? load['user'] : 'root';
  const masterUser = String(master.opts.user ?? 'root');
  if (!master.userKeys.proves(user, load['key'], masterUser)) {
    throw new HaliteError('auth.failed', `Authentication failure of type "user" occurred for user ${user}.`, {
      hint: 'Run the command as root, or give the user rights with publisher_acl and restart the master.',
    });
  }
  return { user };
}

/** Whether a proven user may publish this function to this target; root, the master's user and sudo may everything. */
export function authorizePublish(
  master: Master,
  caller: Caller,
  tgt: unknown,
  tgtType: string,
  functions: readonly string[],
): void {
  const { user } = caller;
  const masterUser = String(master.opts.user ?? 'root');
  const sudo = user.startsWith('sudo_');
  if (user === 'root' || user === masterUser || (sudo && !master.opts.sudo_acl)) return;
  const account = sudo ? user.slice('sudo_'.length) : user;
  const acl = (master.opts as unknown as { publisher_acl?: PlainDict }).publisher_acl ?? {};
  for (const [name, rules] of Object.entries(acl)) {
    if (!matchesGlob(account, name) || !Array.isArray(rules)) continue;
    if (functions.every((fun) => allows(rules, fun, tgt, tgtType))) return;
  }
  throw new HaliteError(
    'auth.denied',
    `Authorization error occurred: user ${user} may not run ${functions.join(', ')} on this target.`,
    {
      hint: 'Ask the administrator to extend publisher_acl in the master configuration.',
    },
  );
}

/** Rules are function expressions for every minion, or {minion glob: [function expressions]}. */
function allows(rules: readonly unknown[], fun: string, tgt: unknown, tgtType: string): boolean {
  return rules.some((rule) => {
    if (typeof rule === 'string') return whole(rule, fun);
    if (!rule || typeof rule !== 'object' || tgtType !== 'glob' || typeof tgt !== 'string') return false;
    return Object.entries(rule).some(
      ([minions, names]) =>
        minions === tgt && (Array.isArray(names) ? names : [names]).some((name) => whole(String(name), fun)),
    );
  });
}

function whole(expression: string, fun: string): boolean {
  try {
    return pyRegexFull(expression).test(fun);
  } catch {
    return false;
  }
}

/** Runners, wheel and key functions are for the master's own users only. */
export function authorizeMaster(master: Master, caller: Caller, what: string): void {
  const masterUser = String(master.opts.user ?? 'root');
  if (caller.user === 'root' || caller.user === masterUser || caller.user.startsWith('sudo_')) return;
  throw new HaliteError('auth.denied', `Authorization error occurred: user ${caller.user} may not run ${what}.`);
}
