// The key of the master: made when it is missing, and put on targets that a password opens.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { SshHost } from './host.ts';
import { type SshFailure, sshFailure } from './reasons.ts';
import { quoted } from './scripts.ts';

const run = promisify(execFile);

export async function ensureKey(path: string): Promise<void> {
  if (existsSync(path)) return;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await run('ssh-keygen', ['-q', '-t', 'rsa', '-b', '4096', '-N', '', '-f', path]);
  } catch (error) {
    throw new HaliteError(
      'auth.failed',
      "salt-ssh could not be run because it could not generate keys.\n\nYou can probably resolve this by executing this script with increased permissions via sudo or by running as root.\nYou could also use the '-c' option to supply a configuration directory that you have permissions to read and write to.",
      { cause: error, details: { why: messageOf(error) } },
    );
  }
}

const script = [
  'k=$1;',
  'umask 077;',
  'd=$HOME/.ssh; f=$d/authorized_keys;',
  'mkdir -p "$d" && touch "$f" || exit 1;',
  'grep -qxF -e "$k" "$f" && exit 0;',
  '[ -z "$(tail -c 1 "$f")" ] || printf "\\n" >> "$f";',
  'printf "%s\\n" "$k" >> "$f";',
].join(' ');

/** Adds the public key to those of the user there; undefined when it is there now. */
export async function deployKey(host: SshHost): Promise<SshFailure | undefined> {
  const { priv } = host.target;
  const key = (await readFile(`${priv}.pub`, 'utf8')).trim().split('\n')[0] ?? '';
  const process = host.connect(`/bin/sh -c ${quoted(script)} salt-ssh ${quoted(key)}`, false);
  process.child.stdin.end();
  process.child.stdout.resume();
  const status = await process.ended;
  return status === 0 ? undefined : sshFailure(status, process.errors, host.asked);
}
