// The masters of a minion as seen from the minion: names, addresses, and the connection to both ports.
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { type MasterAddress, type MinionOpts, masterAddresses } from '../../../base/config/index.ts';
import { messageOf } from '../../../base/errors/index.ts';
import { checkMasterType } from '../../../minion/link/masters/order.ts';
import { askMaster, type MasterOpinion } from './ask-master.ts';
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
  if (opts.master_type === 'func')
    return findings.fine(`Its master is what the function ${String(opts.master)} returns (master_type: func)`);
  let masters: MasterAddress[];
  try {
    checkMasterType(opts);
    masters = masterAddresses(opts);
  } catch (error) {
    return findings.problem(messageOf(error), `correct master in ${file}`);
  }
  const seen = new Map<string, string>();
  const opinions = new Map<string, MasterOpinion>();
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
      findings.warning(
        `The masters ${seen.get(known)} and ${host} are the same one (${known}): it is used once`,
        `remove one of them from master in ${file}, then: systemctl restart salt-minion`,
      );
      continue;
    }
    for (const place of places) seen.set(place, host);
    const reachable = await examinePorts(findings, host, [
      [port, 'master_port, where results go'],
      [opts.publish_port ?? 4505, 'publish_port, where jobs come from'],
    ]);
    if (!reachable) continue;
    const opinion = await askMaster(opts, { host, port });
    if (opinion) opinions.set(`${host}:${port}`, opinion);
  }
  examineOpinions(findings, opts, opinions, file);
}

/** What each master says to this minion: other keys, other states of the own key, two names of one member. */
function examineOpinions(
  findings: Findings,
  opts: MinionOpts,
  opinions: ReadonlyMap<string, MasterOpinion>,
  file: string,
): void {
  const members = new Map<string, string>();
  for (const [name, opinion] of opinions) {
    if (opinion.kind === 'refused') {
      findings.problem(
        `The master ${name} does not take this minion: ${opinion.text}`,
        `on the master: salt-key -f ${opts.id}, and salt-key -F master to compare`,
      );
      continue;
    }
    const { member } = opinion;
    const known = member === undefined ? undefined : members.get(member);
    if (known !== undefined)
      findings.warning(
        `The masters ${known} and ${name} are the same member of a cluster`,
        `remove one of them from master in ${file}`,
      );
    else if (member !== undefined) members.set(member, name);
  }
}

async function examinePorts(
  findings: Findings,
  host: string,
  ports: readonly (readonly [number, string])[],
): Promise<boolean> {
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
  const reachable = refused.every(({ error }) => error === undefined);
  if (reachable) findings.fine(`The master ${host} can be reached at ${ports.map(([port]) => port).join(' and ')}`);
  return reachable;
}
