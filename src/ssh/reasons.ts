// Why a target did not run its job: from what ssh says, what our scripts say, and what was asked for and not known.
import { visibleText } from '../base/util/visible.ts';
import type { ReasonCode } from '../protocol/job/verdict.ts';
import type { Questions } from './askpass.ts';

/** No result, with Salt's texts where it has any. */
export interface SshFailure {
  readonly code: ReasonCode;
  readonly stdout: string;
  readonly stderr: string;
  readonly retcode: number;
}

const refused = 254;
const ofSsh = 255;

export const failureOf = (code: ReasonCode, stderr: string, retcode = 1, stdout = ''): SshFailure => ({
  ...{ code, stdout, retcode },
  stderr: visibleText(stderr),
});

export const interrupted = (): SshFailure => failureOf('cancelled', 'The command was interrupted', 130);
export const tooLate = (): SshFailure => failureOf('deadline', 'The deadline of the job passed');

const hostKeyText = 'The host key needs to be accepted, to auto accept run salt-ssh with the -i flag:\n';

/** What keeps hosts from being reached, in the words of ssh. */
const unreachable =
  /^ssh: |Connection (?:closed|reset|refused|timed out)|kex_exchange_identification|Connection to .* timed out|No route to host|port \d+: |banner exchange/m;
const changedKey = /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/;
const denied = /: Permission denied \([^)]*\)|Too many authentication failures|No supported authentication methods/;
const sudoAsks = /^sudo: (?:a password is required|.*a terminal is required|no tty present|.*incorrect password)/m;
const sudoWrong = /Sorry, try again|incorrect password attempt/;
/** sudo waits for another one then, which there is not. */
export const isWrongPassword = (said: string): boolean => sudoWrong.test(said);
export const wrongPassword = (): SshFailure => failureOf('ssh-refused', 'Password authentication failed', refused);

const noSudo =
  /sudo: (?:command )?not found|sudo: No such file|^sudo: sorry, you must have a tty|is not in the sudoers file|^Sorry, user .* is not allowed to/m;

/** Of a command that ended before it did what it was started for. */
export function sshFailure(status: number, stderr: string, asked: Questions): SshFailure {
  const text = stderr.trim();
  if (asked.hostKey !== '')
    return failureOf('ssh-host-key', '', refused, `${hostKeyText}${visibleText(asked.hostKey)}`);
  if (changedKey.test(text)) return failureOf('ssh-host-key', stderr, ofSsh);
  if (denied.test(text)) {
    if (asked.passphrase) return failureOf('ssh-refused', 'Private key file need passphrase', refused);
    return failureOf('ssh-refused', stderr, ofSsh);
  }
  if (isWrongPassword(text)) return wrongPassword();
  if (sudoAsks.test(text)) return failureOf('ssh-refused', 'Sudo password is required but not provided', refused);
  if (noSudo.test(text)) return failureOf('ssh-refused', stderr, status);
  if (status === ofSsh && unreachable.test(text)) return failureOf('ssh-unreachable', stderr, ofSsh);
  if (status === ofSsh) return failureOf('ssh-lost', text === '' ? 'The connection was lost' : stderr, ofSsh);
  return failureOf(
    'ssh-lost',
    text === '' ? `The target ended the session with status ${status}` : stderr,
    status || 1,
  );
}

/** How the loaders of glibc and musl name what they do not find. */
const missingLibrary = /(?:Error loading shared library|error while loading shared libraries:) ([\w.+-]+)/;

/** Our program or its runtime ended at once. */
export function startFailure(status: number, errors: string): SshFailure {
  const [, library] = missingLibrary.exec(errors) ?? [];
  if (library !== undefined)
    return failureOf(
      'ssh-runtime',
      `The runtime needs the library ${library}, which is not installed there (Alpine: apk add libstdc++)`,
    );
  return failureOf('ssh-runtime', `The program does not start there (status ${status}): ${errors.trim().slice(-1000)}`);
}

const places: Readonly<Record<string, string>> = {
  link: 'is a symbolic link, which somebody else may have made',
  create: 'cannot be created there',
  owner: 'belongs to another user there',
  foreign: 'has other content there; name a folder of its own (thin_dir)',
  full: 'cannot be written: there is no space, or it is read-only',
  noexec: 'is on a file system that runs no programs (noexec); name another one (thin_dir)',
};

export const placeFailure = (folder: string, why: string): SshFailure =>
  failureOf('ssh-place', `The folder ${folder} ${Object.hasOwn(places, why) ? places[why] : 'cannot be used'}`, 73);

export const spaceFailure = (folder: string, freeKb: number, neededKb: number): SshFailure =>
  failureOf(
    'ssh-place',
    `The folder ${folder} has ${Math.floor(freeKb / 1024)} MB free, and ${Math.ceil(neededKb / 1024)} MB are needed`,
    73,
  );
