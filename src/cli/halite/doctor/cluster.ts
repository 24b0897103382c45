// The option `cluster` of a master and the nats-servers that it names, without its daemon.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedConfig, MasterOpts } from '../../../base/config/index.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { fileBusKeys } from '../../../engine/cluster/bus-keys.ts';
import type { ServerProbe } from '../../../engine/cluster/nats/probe.ts';
import { managedLogin } from '../../../engine/cluster/nats-server/managed.ts';
import { type ClusterOptions, isLoopback, readClusterOptions } from '../../../engine/cluster/options.ts';
import type { Findings } from './finding.ts';
import { examinePrivateKey } from './folders.ts';

const ofSalt = ['cluster_id', 'cluster_peers', 'cluster_pki_dir', 'cluster_pool_port', 'cluster_secret'];
/** Older servers lost whole streams when they were killed. */
const leastVersion = [2, 10, 23];
const oldestKeyDays = 365;
const dayMs = 24 * 3_600_000;

export async function examineCluster(
  findings: Findings,
  { opts, given }: Pick<LoadedConfig<MasterOpts>, 'opts' | 'given'>,
  configDir: string,
): Promise<void> {
  const foreign = ofSalt.filter((name) => given[name] !== undefined && given[name] !== null);
  if (foreign.length > 0)
    findings.problem(
      `${foreign.join(', ')} ${foreign.length === 1 ? 'is' : 'are'} of Salt’s own cluster, which Halite does not know: this master does not start`,
      `remove ${foreign.length === 1 ? 'it' : 'them'} and use the option cluster: halite cluster init NAME tls://HOST:4222 … (docs/guide/cluster.md)`,
    );
  let options: ClusterOptions | undefined;
  try {
    options = readClusterOptions(opts.cluster);
  } catch (error) {
    const hint = error instanceof HaliteError ? error.hint : undefined;
    findings.problem(
      `${messageOf(error)}: this master does not start`,
      `${hint ?? 'correct it'} It is in ${join(configDir, 'master')} or ${join(configDir, 'master.d')}`,
    );
  }
  if (!options) return;
  examineKeys(findings, opts, options);
  examinePlan(findings, options);
  const { probeServers } = await import('../../../engine/cluster/nats/probe.ts');
  const probes = await probeServers({ ...options, ...loginFor(opts, options) });
  for (const probe of probes) examineServer(findings, probe, options);
  examineReplicas(findings, probes, options);
}

/** A server that the master runs itself lets nobody else in. */
function loginFor({ cachedir }: MasterOpts, { managed }: ClusterOptions): Pick<ClusterOptions, 'login'> {
  const login = managed ? managedLogin(cachedir) : undefined;
  return login ? { login } : {};
}

function examineKeys(findings: Findings, opts: MasterOpts, options: ClusterOptions): void {
  const busKey = join(opts.pki_dir, 'cluster_bus.key');
  try {
    fileBusKeys(busKey);
    const days = Math.floor((Date.now() - statSync(busKey).mtimeMs) / dayMs);
    if (days > oldestKeyDays)
      findings.warning(
        `The key of the cluster ${busKey} is ${days} days old: whoever got a copy of it can still read along`,
        'make a new one for all members: salt-run cluster.rekey',
      );
    else findings.fine(`The key of the cluster is ${days} days old`);
  } catch (error) {
    const hint = error instanceof HaliteError ? error.hint : undefined;
    findings.problem(`${messageOf(error)}: this master does not start`, hint ?? `see ls -l ${busKey}`);
  }
  const secrets = [options.creds, options.nkey, options.tls.key].filter((file) => file !== undefined);
  for (const file of [join(opts.pki_dir, 'cluster_identity.pem'), ...secrets])
    if (existsSync(file)) examinePrivateKey(findings, file, 'halite cluster init');
  for (const file of [...secrets, options.tls.ca, options.tls.cert])
    if (file !== undefined && !existsSync(file))
      findings.problem(
        `The option cluster names ${file}, which does not exist: the nats-servers cannot be used`,
        'copy it from another member, or correct the option',
      );
}

function examinePlan(findings: Findings, { servers, insecure, managed, peers }: ClusterOptions): void {
  const count = managed ? Math.max(servers.length, peers.length + 1) : servers.length;
  if (count < 3)
    findings.warning(
      `The cluster has ${count} nats-server${count === 1 ? '' : 's'}: every master is cut off while ${count === 1 ? 'it is' : 'one of them is'} away`,
      'use three, on three machines: halite cluster nats HOST1 HOST2 HOST3 on each of them',
    );
  const open = servers.filter((server) => server.startsWith('nats://') && !isLoopback(server.slice('nats://'.length)));
  if (insecure && open.length > 0)
    findings.warning(
      `The connection to ${open.join(', ')} has no TLS: names of masters and times can be seen, and connections be taken over`,
      'set cert, key and ca below cluster, write tls://, and remove insecure',
    );
}

function examineServer(findings: Findings, probe: ServerProbe, options: ClusterOptions): void {
  const { url, error, version, storage, syncs } = probe;
  if (error !== undefined) {
    findings.problem(
      `The nats-server ${url} cannot be used: ${error}`,
      options.managed
        ? 'it is started by the master: systemctl start salt-master; then see its log'
        : 'there: systemctl status halite-nats; on the way: open its port; also check cert, key, ca, creds or nkey below cluster',
    );
    return;
  }
  if (version !== undefined && isOlder(version))
    findings.warning(
      `The nats-server ${url} is version ${version}: before ${leastVersion.join('.')} whole streams were lost when servers were killed`,
      'install a newer one there, one server after the other, 2.12 or newer if possible',
    );
  if (storage && storage.most >= 0 && storage.most - storage.used < options.logMb * 1024 * 1024)
    findings.problem(
      `The account at ${url} may keep ${megabytes(storage.most)}, of which ${megabytes(storage.used)} are used; log_mb is ${options.logMb}`,
      'raise max_storage of the account, or lower log_mb below cluster',
    );
  if (syncs === false)
    findings.warning(
      `The nats-server ${url} answers before it writes to the disk: after a power cut of all servers the last results are only with the masters`,
      'set sync_interval: always below jetstream in its configuration and restart it; one server after the other',
    );
  findings.fine(`The nats-server ${url} (${version ?? 'unknown version'}) can be used`);
}

function examineReplicas(findings: Findings, probes: readonly ServerProbe[], { servers, name }: ClusterOptions): void {
  const replicas = probes.find((probe) => probe.replicas !== undefined)?.replicas;
  if (replicas !== undefined && replicas < Math.min(3, servers.length))
    findings.warning(
      `The ledger of the cluster has ${replicas} cop${replicas === 1 ? 'y' : 'ies'} on ${servers.length} nats-servers: with one server more things can be lost than needs be`,
      `nats stream edit HALITE_${name}_LOG --replicas 3, and the same for the other streams; replicas: 3 below cluster`,
    );
}

const megabytes = (bytes: number): string => `${Math.round(bytes / (1024 * 1024))} MB`;

function isOlder(version: string): boolean {
  const numbers = version.split(/[.-]/).map(Number);
  for (const [at, least] of leastVersion.entries()) {
    const number = numbers[at] ?? 0;
    if (number !== least) return number < least;
  }
  return false;
}
