// With systemd Salt's unit starts Halite while a file beside it says so: Salt's package stays as it is, the master keeps its
// name and comes back after a reboot, and the way back is to remove the file.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export const besideUnit = '/etc/systemd/system/salt-master.service.d/halite.conf';

/** Whether one of these processes is the unit `salt-master`. */
export function isUnit(pids: readonly number[]): boolean {
  if (!existsSync('/run/systemd/system')) return false;
  const words = ['show', '--property=MainPID', '--value', 'salt-master.service'];
  const { stdout } = spawnSync('systemctl', words, { encoding: 'utf8', timeout: 30_000 });
  return pids.includes(Number(String(stdout).trim()));
}

/** A word of a command in a unit. */
const quoted = (word: string): string =>
  `"${word.replace(/["\\]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;

/** `command`: of the master, as words. */
export const besideText = (
  command: readonly string[],
): string => `# Written by halite migrate run; halite migrate back removes it.
[Service]
Type=notify
NotifyAccess=all
ExecStart=
ExecStart=${command.map(quoted).join(' ')}
ExecReload=
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
TimeoutStartSec=180
WatchdogSec=180
KillMode=mixed
`;
