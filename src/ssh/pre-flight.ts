// `ssh_pre_flight`: a script of the master that runs on a target before the first job there.
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { framesLine } from '../protocol/wire/stdio/frames.ts';
import type { Limits, SshHost } from './host.ts';
import { sshFailure } from './reasons.ts';
import { expandHome, mark, quoted } from './scripts.ts';
import type { SshOutcome } from './session.ts';

/** Arguments: folder, "always" or not, and those of the script. Says so when it has nothing to do. */
const script = [
  'd=$1; f=$2; shift 2;',
  expandHome,
  `if [ "$f" = once ] && [ -d "$d" ]; then printf "%s\\n" "${mark} skip"; exit 0; fi;`,
  `while IFS= read -r i; do case $i in *${framesLine}) break;; esac; done;`,
  't=$(umask 077; mktemp) || exit 1;',
  'trap "rm -f \\"$t\\"" 0 1 2 15;',
  'cat > "$t" && /bin/sh "$t" "$@" </dev/null;',
].join(' ');

export interface PreFlightParts {
  readonly host: SshHost;
  readonly folder: string;
  readonly always: boolean;
  readonly log: Logger;
  readonly limits: Limits;
}

/** Undefined when the job may run. */
export async function runPreFlight({
  host,
  folder,
  always,
  log,
  limits,
}: PreFlightParts): Promise<SshOutcome | undefined> {
  const { target } = host;
  try {
    await access(target.preFlight);
  } catch {
    log.error('The ssh_pre_flight script does not exist', { target: target.id, script: target.preFlight });
    return undefined;
  }
  const words = [folder, always ? 'always' : 'once', ...target.preFlightArgs];
  const command = `/bin/sh -c ${quoted(script)} salt-ssh ${words.map(quoted).join(' ')}`;
  const process = host.connect(command, false);
  let stdout = '';
  process.child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (stdout.length < 1 << 20) stdout += text;
  });
  const ended = process.within(limits);
  process.child.stdin.write(`${framesLine}\n`);
  await pipeline(createReadStream(target.preFlight), process.child.stdin).catch((error: unknown) =>
    log.debug('the pre-flight script was not read to its end', { target: target.id, error: messageOf(error) }),
  );
  const retcode = await ended;
  if (typeof retcode !== 'number') return { kind: 'missing', failure: retcode };
  if (retcode === 0) return undefined;
  log.error('Error running ssh_pre_flight script', { target: target.id, script: target.preFlight });
  if (retcode === 255 && stdout === '')
    return { kind: 'missing', failure: sshFailure(retcode, process.errors, host.asked) };
  return { kind: 'text', stdout, stderr: process.errors, retcode };
}
