// All metrics of a master, read from its parts at the moment of a scrape. Labels are words of the program or of its
// configuration: never ids of minions, names of users, or what one of them chose.
import { stat } from 'node:fs/promises';
import type { Family, Sample } from '../../base/metrics/index.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { KeyState } from '../../extend/sdk/context.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { JobStore, StoreLoad } from '../../store/jobs.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Logins } from '../authorization/logins.ts';
import type { Ports } from '../build/ports.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { RequestPort } from '../requests/port.ts';
import type { SpoolStatus } from '../returners/returner-spool.ts';
import type { SignInCounts } from '../sign-in/counts.ts';
import type { ResultCounts } from '../tracking/job-counts.ts';
import type { Tracker } from '../tracking/tracker.ts';
import { by, counter, gauge } from './families.ts';

export interface MetricSources {
  readonly tracker: Pick<Tracker, 'counts' | 'active'>;
  readonly results: ResultCounts;
  readonly signIns: SignInCounts;
  readonly requestPort: Pick<RequestPort, 'counts'>;
  readonly ports: {
    readonly problems: Pick<Ports['problems'], 'samples'>;
    readonly publish: { readonly connections: number };
    readonly requests: { readonly connections: number };
  };
  readonly local: { readonly connections: number };
  readonly bus: Pick<EventBus, 'fired' | 'dropped' | 'listeners'>;
  readonly logins: Pick<Logins, 'counts'>;
  readonly keys: Pick<KeyStore, 'ids' | 'count'>;
  readonly fleet: Pick<Fleet, 'connected' | 'connections'>;
  readonly store: Pick<JobStore, 'health'>;
  readonly sinks: { status(): Readonly<Record<string, SpoolStatus>> };
  readonly cluster: Pick<Cluster, 'name' | 'state' | 'members' | 'leads' | 'report'> & {
    readonly ledger: Pick<Cluster['ledger'], 'held'>;
  };
  readonly presence: { unknown(): readonly string[] };
  writeLoad(): StoreLoad;
  /** The last frame of the ledger that is stored here. */
  ledgerPlace(): number;
}

const keyStates: readonly KeyState[] = ['accepted', 'pending', 'rejected', 'denied'];

export function masterFamilies(sources: MetricSources): Family[] {
  return [
    ...jobFamilies(sources),
    ...requestFamilies(sources),
    ...fleetFamilies(sources),
    ...storeFamilies(sources),
    ...spoolFamilies(sources),
    ...(sources.cluster.name === undefined ? [] : clusterFamilies(sources)),
  ];
}

function jobFamilies({ tracker, results, bus }: MetricSources): Family[] {
  const { counts } = tracker;
  return [
    counter(
      'salt_jobs_published_total',
      'Jobs of users that this master published, by the module of their function; "other" for modules that are not built in.',
      counts.published.samples('module'),
    ),
    counter('halite_jobs_ended_total', 'Jobs all of whose minions have a verdict.', counts.ended),
    gauge('halite_jobs_open', 'Jobs that wait for minions now.', tracker.active().length),
    counter(
      'halite_job_verdicts_total',
      'What became of a job on a minion, for each targeted minion, and why there is no result.',
      counts.verdicts(),
    ),
    counter(
      'halite_results_total',
      'Results that arrived; unstored ones are also new or repeated, and stay with their minion.',
      results.samples('kind'),
    ),
    counter('salt_events_fired_total', 'Events on the bus of this master.', bus.fired),
    counter('halite_events_dropped_total', 'Events that a slow reader did not get.', bus.dropped),
    gauge('halite_event_listeners', 'Who listens to the events now, parts of the master included.', bus.listeners),
  ];
}

function requestFamilies({ requestPort, signIns, ports, local, logins }: MetricSources): Family[] {
  const { handled, refused, duration } = requestPort.counts;
  return [
    counter('salt_auth_attempts_total', 'Sign-ins of minions, by the answer.', signIns.samples('result')),
    counter('salt_master_requests_handled_total', 'Requests that were carried out.', handled.samples('cmd')),
    counter('halite_requests_refused_total', 'Requests that were not carried out.', refused.samples('reason')),
    {
      name: 'halite_request_duration_seconds',
      type: 'histogram',
      help: 'From the arrival of a request to its answer, all commands.',
      samples: duration.samples(),
    },
    counter('halite_wire_problems_total', 'What peers did against the protocol.', ports.problems.samples('kind')),
    gauge(
      'halite_connections',
      'Open connections by port; local is the socket of the commands.',
      by('port', {
        publish: ports.publish.connections,
        requests: ports.requests.connections,
        local: local.connections,
      }),
    ),
    counter('halite_logins_total', 'Logins by external authentication.', logins.counts.samples('result')),
  ];
}

function fleetFamilies({ keys, fleet }: MetricSources): Family[] {
  const states = { connected: 0, away: 0, unknown: 0 };
  const words = { yes: 'connected', no: 'away', unknown: 'unknown' } as const;
  let duplicates = 0;
  for (const id of keys.ids('accepted')) {
    const connected = fleet.connected(id);
    states[words[connected]]++;
    if (connected === 'yes' && fleet.connections(id).length > 1) duplicates++;
  }
  const counts = Object.fromEntries(keyStates.map((state): [KeyState, number] => [state, keys.count(state)]));
  return [
    gauge(
      'halite_minions',
      'Minions with an accepted key; unknown are those of real Salt, whose connection cannot be seen.',
      by('state', states),
    ),
    gauge('halite_duplicate_ids', 'Ids with several connections: several minions may use one id.', duplicates),
    gauge('halite_keys', 'Keys of minions.', by('state', counts)),
  ];
}

function storeFamilies({ store, writeLoad }: MetricSources): Family[] {
  const { written, waiting, stalledMs } = writeLoad();
  return [
    gauge('halite_store_up', 'Whether the job store can be written.', store.health().trouble === undefined ? 1 : 0),
    counter('halite_store_writes_total', 'Records written to the job store.', written),
    gauge('halite_store_writes_waiting', 'Records that wait to be written.', waiting),
    gauge(
      'halite_store_stalled_seconds',
      'For how long nothing was written although something waits.',
      Math.max(0, stalledMs) / 1000,
    ),
  ];
}

function spoolFamilies({ sinks }: MetricSources): Family[] {
  const spools = Object.entries(sinks.status());
  const of = (number: (status: SpoolStatus) => number): Sample[] =>
    spools.map(([spool, status]) => ({ labels: { spool }, value: number(status) }));
  return [
    gauge(
      'halite_spool_up',
      'Whether the returner takes records.',
      of(({ state }) => (state === 'delivering' ? 1 : 0)),
    ),
    gauge(
      'halite_spool_records_waiting',
      'Records that their returner does not have yet.',
      of((s) => s.waiting),
    ),
    gauge(
      'halite_spool_bytes',
      'Size of these records.',
      of((s) => s.bytes),
    ),
    counter(
      'halite_spool_delivered_total',
      'Records that the returner took.',
      of((s) => s.delivered),
    ),
    counter(
      'halite_spool_dropped_total',
      'Records for which the spool had no room.',
      of((s) => s.dropped),
    ),
    counter(
      'halite_spool_refused_total',
      'Records that the returner refused.',
      of((s) => s.refused),
    ),
  ];
}

function clusterFamilies({ cluster, presence, ledgerPlace }: MetricSources): Family[] {
  const { state } = cluster;
  const held = cluster.ledger.held();
  const seconds = (since: number): number => (since === 0 ? 0 : Math.max(0, Date.now() - since) / 1000);
  return [
    gauge(
      'halite_cluster_joined',
      'Whether this master has a connection to the others.',
      state.kind === 'joined' ? 1 : 0,
    ),
    gauge(
      'halite_cluster_cut_off_seconds',
      'For how long it is cut off from the others.',
      state.kind === 'cut-off' ? seconds(state.since) : 0,
    ),
    gauge('halite_cluster_members', 'Live members, this one included.', cluster.members().length),
    gauge('halite_cluster_members_unknown', 'Members whose minions are not known yet.', presence.unknown().length),
    gauge('halite_cluster_leader', 'Whether this master leads.', cluster.leads() ? 1 : 0),
    gauge(
      'halite_cluster_held_items',
      'Records that only this master has: the cluster has not taken them.',
      held.items,
    ),
    gauge('halite_cluster_held_bytes', 'Size of these records on disk.', held.bytes),
    gauge('halite_cluster_held_seconds', 'For how long there are such records.', seconds(held.since)),
    gauge(
      'halite_cluster_ledger_place',
      'The last frame of the common history that is stored here: the difference to the highest of all members is the lag.',
      ledgerPlace(),
    ),
    gauge(
      'halite_cluster_engine_delay_seconds',
      'What the last renewal took.',
      (cluster.report()?.delayMs ?? 0) / 1000,
    ),
  ];
}

/** The size of the file of the job store with what SQLite keeps beside it. */
export async function storeSize(file: string): Promise<number> {
  const sizes = await Promise.all(
    ['', '-wal'].map((end) =>
      stat(`${file}${end}`).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
