// Runs the command as another user than the caller.
import { userInfo } from 'node:os';
import { findAccount } from '../base/config/accounts.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import { exitCodes } from '../base/util/exit-codes.ts';

function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}

/** Switches from the privileges of the caller to those of `user`; does nothing when it is the same user. */
export function becomeUser(user: string): void {
  if (user === '' || user === currentUser()) return;
  const account = findAccount(user);
  if (!account) {
    throw new HaliteError('config.value', `User not found: "${user}"`, {
      hint: "Create the user or change the option 'user'.",
      details: { exitCode: exitCodes.noUser },
    });
  }
  if (account.uid === process.geteuid?.()) return;
  try {
    // Missing in the type declarations only.
    (process as { initgroups?: (user: string, group: number) => void }).initgroups?.(account.name, account.gid);
    process.setgid?.(account.gid);
    process.setuid?.(account.uid);
  } catch (cause) {
    throw new HaliteError('auth.denied', `Salt configured to run as user "${user}" but unable to switch.`, {
      hint: `Run the command as root or as ${user}. (${messageOf(cause)})`,
      details: { exitCode: exitCodes.noPermission },
      cause,
    });
  }
  const wanted = { HOME: account.home, SHELL: account.shell, USER: account.name, LOGNAME: account.name };
  for (const [name, value] of Object.entries(wanted)) if (name in process.env) process.env[name] = value;
}
