// Established TCP connections of this machine, as the kernel lists them.
import { readFileSync } from 'node:fs';

const established = '01';
const portOf = (address: string): number => Number.parseInt(address.slice(address.indexOf(':') + 1), 16);

/** The local ports of connections to this port: a connection that was made again has another one. */
export function portsConnectedTo(port: number): Set<number> {
  const rows = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  const found = rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , to, state]) => {
      return state === established && portOf(to ?? '') === port;
    });
  return new Set(found.map(([, from]) => portOf(from ?? '')));
}
