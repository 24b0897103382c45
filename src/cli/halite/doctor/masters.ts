// The masters of a minion as seen from the minion: names, addresses, and the connection to both ports.
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { type MasterAddress, type MinionOpts, masterAddresses } from '../../../base/config/index.ts';
import { messageOf } from '../../../base/errors/index.ts';
import type { Findings } from './finding.ts';

const patienceMs = 3000;

const why: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ETIMEDOUT: 'no answer; a firewall may be in between',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no route to that network',
};

/** Undefined when the port answers, otherwise why not. */
export function probePort(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const socket = connect({ host, port });
    const end = (result: string | undefined): void => {
      socket.destroy();
      done(result);
    };
    socket.setTimeout(patienceMs, () => end(why['ETIMEDOUT']));
    socket.once('connect', () => end(undefined));
    socket.once('error', (error: NodeJS.ErrnoException) => end(why[error.code ?? ''] ?? error.message));
  });
}

async function addressesOf(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}

export async function examineMasters(findings: Findings, opts: MinionOpts, file: string): Promise<void> {
  if (opts.master_type === 'disable') return findings.fine('It has no master, as master_type: disable says');
  let masters: MasterAddress[];
  try {
    masters = masterAddresses(opts);
  } catch (error) {
    return findings.problem(messageOf(error), `correct master in ${file}`);
  }
  const seen = new Map<string, string>();
  for (const { host, port } of masters) {
    const addresses = await addressesOf(host);
    if (addresses.length === 0) {
      findings.problem(
        `The master ${host} has no address: the name is not known`,
        `correct master in ${file}, or the name in DNS or /etc/hosts`,
      );
      continue;
    }
    const places = addresses.map((address) => `${address}:${port}`);
    const known = places.find((place) => seen.has(place));
    if (known !== undefined) {
      findings.problem(
        `The masters ${seen.get(known)} and ${host} are the same one (${known}): its jobs run twice`,
        `remove one of them from master in ${file}, then: systemctl restart salt-minion`,
      );
      continue;
    }
    for (const place of places) seen.set(place, host);
    await examinePorts(findings, host, [
      [port, 'master_port, where results go'],
      [opts.publish_port ?? 4505, 'publish_port, where jobs come from'],
    ]);
  }
}

async function examinePorts(
  findings: Findings,
  host: string,
  ports: readonly (readonly [number, string])[],
): Promise<void> {
  const refused = await Promise.all(
    ports.map(async ([port, what]) => ({ port, what, error: await probePort(host, port) })),
  );
  for (const { port, what, error } of refused) {
    if (error)
      findings.problem(
        `The master ${host} cannot be reached at ${port} (${what}): ${error}`,
        `on the master: halite doctor; on the way: open port ${port}`,
      );
  }
  if (refused.every(({ error }) => error === undefined))
    findings.fine(`The master ${host} can be reached at ${ports.map(([port]) => port).join(' and ')}`);
}
