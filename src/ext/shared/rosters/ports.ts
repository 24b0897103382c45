// Which ports of hosts are open, for rosters that look for hosts.
import { connect } from 'node:net';
import { ConcurrencyLimit, HaliteError, type RosterContext } from 'halite/sdk';

type Opts = RosterContext['opts'];

/** `22`, `22,2222`, or a list. */
export function portsOf(opts: Opts): number[] {
  const given = opts['ssh_scan_ports'] ?? '22';
  const ports = (Array.isArray(given) ? given : String(given).split(',')).map(Number);
  if (ports.some((port) => !Number.isInteger(port) || port < 1 || port > 65_535))
    throw new HaliteError('config.value', `ssh_scan_ports: ${String(given)} is not a list of ports`);
  return ports;
}

/** Sockets open at the same time. */
const limit = new ConcurrencyLimit(256, 60_000);

/** Seconds are set for networks nearby: Salt's default is a hundredth of one. */
const patienceMs = (opts: Opts): number =>
  Math.max(1, Math.min(60_000, Number(opts['ssh_scan_timeout'] ?? 0.01) * 1000));

export async function openPort(
  host: string,
  ports: readonly number[],
  { opts, signal }: Pick<RosterContext, 'opts' | 'signal'>,
): Promise<number | undefined> {
  let open: number | undefined;
  // As in Salt, the last open one counts.
  for (const port of ports) if (await limit.run(() => answers(host, port, patienceMs(opts), signal))) open = port;
  return open;
}

function answers(host: string, port: number, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    const end = (open: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(open);
    };
    const timer = setTimeout(() => end(false), timeoutMs);
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
