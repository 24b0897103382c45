// Whether a master runs on this machine, by its ports and by its processes.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { realFolder, runningDaemons } from '../halite/doctor/processes.ts';

const listening = '0A';

/** Inodes of the sockets that listen on a port. */
function inodesOf(port: number): Set<string> {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readOr(table).split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === listening && local.endsWith(`:${wanted}`)) inodes.add(inode);
    }
  }
  return inodes;
}

const readOr = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** The process that listens on a port, as `salt-master (process id 123)`. */
function listenerOf(port: number): string {
  const inodes = inodesOf(port);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    let handles: string[] = [];
    try {
      handles = readdirSync(`/proc/${pid}/fd`);
    } catch {
      continue;
    }
    const has = handles.some((handle) => {
      try {
        return inodes.has(/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${handle}`))?.[1] ?? '-');
      } catch {
        return false;
      }
    });
    if (has)
      return `${readOr(`/proc/${pid}/cmdline`).split('\0').filter(Boolean).slice(0, 4).join(' ')} (process id ${pid})`;
  }
  return 'a process of another user';
}

function portIsFree(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code !== 'EADDRINUSE'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(true)));
  });
}

/** Refuses when a master runs here: its files must not be replaced under it. */
export async function refuseRunningMaster(opts: MasterOpts, configDir: string, what: string): Promise<void> {
  const [daemon] = runningDaemons('salt-master').filter((running) => running.configDir === realFolder(configDir));
  const hint = `Stop it first: systemctl stop salt-master. Then ${what} again; with dry_run=True it may go on running.`;
  if (daemon)
    throw new HaliteError(
      'daemon.running',
      `A master runs with the configuration in ${configDir} (process id ${daemon.pid})`,
      { hint },
    );
  for (const port of [opts.publish_port, opts.ret_port]) {
    if (await portIsFree(opts.interface, port)) continue;
    throw new HaliteError(
      'daemon.running',
      `Port ${port}, which the master would use, belongs to ${listenerOf(port)}`,
      {
        hint: `If that is a master: ${hint} If not, choose other ports: publish_port=… ret_port=…`,
      },
    );
  }
}
