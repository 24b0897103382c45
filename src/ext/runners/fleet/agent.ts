// What runs on a minion while it is upgraded: it has to go on when the minion ends, and to bring the old version back by
// itself when nobody confirms the new one, because then nobody can reach the minion.
import { shellQuote } from 'halite/sdk/text';

export interface Steps {
  /** Commands for the shell; the environment has PACKAGE and OLD_PACKAGE: a file, or a folder where there are several. */
  readonly install: string;
  readonly rollback: string;
  readonly restart: string;
  /** Seconds in which the new version has to be confirmed. */
  readonly wait: number;
}

/** Files beside the script: `state` says where it is, `confirmed` and `refused` come from the master. */
export function agentScript({ install, rollback, restart, wait }: Steps): string {
  return `#!/bin/sh
cd "$(dirname "$0")" || exit 1
umask 077
export PACKAGE="$PWD/package" OLD_PACKAGE="$PWD/old-package"
say() { echo "$1" >state.new && mv state.new state; }
limited() { if command -v timeout >/dev/null; then timeout -k 5 ${wait} sh -c "$1"; else sh -c "$1"; fi >>log 2>&1 </dev/null; }
if limited ${shellQuote(install)} && limited ${shellQuote(restart)}; then
  say restarted
  i=0
  while [ $i -lt ${wait} ] && [ ! -e refused ]; do
    if [ -e confirmed ]; then say upgraded; rm -rf package old-package; exit 0; fi
    sleep 1
    i=$((i + 1))
  done
fi
say returning
limited ${shellQuote(rollback)}
limited ${shellQuote(restart)}
say returned
`;
}

/** Writes the script and starts it once, outside of the service and the job that start it. */
export function startCommand(folder: string, script: string): string {
  const place = shellQuote(folder);
  const bytes = Buffer.from(script).toString('base64');
  return [
    `cd ${place} || exit 1`,
    'if [ -e state ]; then echo started; exit 0; fi',
    `printf %s ${bytes} | base64 -d >agent || exit 1`,
    'echo installing >state',
    'if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null; then systemd-run --quiet sh "$PWD/agent"',
    'else setsid sh "$PWD/agent" </dev/null >/dev/null 2>&1 & fi',
    'echo started',
  ].join('\n');
}

/** Confirms, and waits until the script has seen it: the answer is its last state. */
export const confirmCommand = (folder: string): string =>
  `cd ${shellQuote(folder)} || exit 1; touch confirmed; i=0; while [ "$(cat state)" = restarted ] && [ $i -lt 20 ]; do sleep 1; i=$((i+1)); done; cat state`;
export const refuseCommand = (folder: string): string => `touch ${shellQuote(`${folder}/refused`)}`;
export const stateCommand = (folder: string): string => `cat ${shellQuote(`${folder}/state`)} 2>/dev/null; true`;
