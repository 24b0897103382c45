// What runners see of a cluster of masters.
import { newDict, type PlainDict } from '../../base/codec/value.ts';

export interface ClusterMemberStatus {
  readonly id: string;
  readonly slot: number;
  readonly version: string;
  /** `silent`: it is a member, and does not answer. `gone`: it was one since this master started. */
  readonly state: 'joined' | 'cut off' | 'silent' | 'gone';
  readonly since: Date;
  /** Connected to it, as far as connections are visible. */
  readonly minions: number;
  /** Records that only its disk has. */
  readonly held: number;
  /** Since when the oldest of these waits; only known of this master. */
  readonly heldSince?: Date;
  /** How often it started within the last ten minutes. */
  readonly starts: number;
  /** Its clock minus that of the engine. */
  readonly skewMs: number;
  readonly leads: boolean;
  readonly self: boolean;
  /** Since when it is drained: it starts no new jobs. */
  readonly drainedSince?: Date;
  /** Why it is cut off, or what it does not know. */
  readonly why?: string;
}

/** A difference between members that should be equal. */
export interface ClusterDrift {
  readonly what: string;
  readonly since: Date;
  /** The members on each side. */
  readonly sides: readonly (readonly string[])[];
}

/** A new key for what the members tell each other, as long as the old one still opens something. */
export interface ClusterRekey {
  readonly number: number;
  readonly since: Date;
  /** From when on the old key opens nothing. */
  readonly until: Date;
  /** Live members that have not said that they use it. */
  readonly lacking: readonly string[];
}

export interface ClusterReport {
  readonly name: string;
  readonly level: number;
  readonly leader: string | undefined;
  readonly term: number;
  /** Since when nobody leads. */
  readonly leaderlessSince?: Date;
  /** Keys of minions that were otherwise in the files of this master when it started, and where those are now. */
  readonly overruled?: { readonly ids: readonly string[]; readonly folder: string };
  readonly engine: {
    readonly server: string;
    readonly version: string;
    readonly delayMs: number;
    readonly problems: readonly string[];
  };
  readonly members: readonly ClusterMemberStatus[];
  readonly drift: readonly ClusterDrift[];
  readonly rekey?: ClusterRekey;
  /** The last comparison of the histories of jobs; undefined before the first one. */
  readonly repair: ClusterComparison | undefined;
}

/** What was missing here and came from others. */
export interface ClusterComparison {
  readonly at: Date;
  readonly seconds: number;
  /** Records of others that were not here, or otherwise. */
  readonly differed: number;
  readonly fetched: number;
  /** Records that were not taken. */
  readonly refused: number;
  readonly compared: readonly string[];
  /** Members that did not answer, and why. */
  readonly unreached: ReadonlyMap<string, string>;
}

/** What `cluster.sync_roots` gives to other members. */
export interface SyncRootsOptions {
  /** One environment; absent: all of them. */
  readonly env?: string;
  readonly only?: 'files' | 'pillar';
  /** Ids of members; absent: all others. */
  readonly members?: readonly string[];
  readonly dryRun: boolean;
}

/** The cluster of the master. */
export interface ClusterView {
  /** Undefined for a master without others. */
  report(): Promise<ClusterReport | undefined>;
  /** How the configuration, files and pillars of two members differ. */
  diff(one: string, other: string): Promise<PlainDict>;
  /** Makes the plain folders of other members equal to those here; what each did, by member and folder. */
  syncRoots(options: SyncRootsOptions): Promise<{ readonly told: PlainDict; readonly failed: boolean }>;
  /** Compares the history of jobs with all members now, and fetches what is missing here. */
  repair(): Promise<ClusterComparison>;
  /** The last comparison. */
  readonly compared: ClusterComparison | undefined;
  /** Asks others for results of a job that are missing here; the members that could not be asked. */
  complete(jid: string): Promise<readonly string[]>;
}

/** A comparison as data, as `jobs.health` and `cluster.repair` give it. */
export function comparisonValue({ at, compared, unreached, ...numbers }: ClusterComparison): PlainDict {
  return newDict([
    ...Object.entries({ time: at.toISOString(), ...numbers, compared: [...compared] }),
    ['unreached', newDict([...unreached])],
  ]);
}

/** Who is a member of the cluster of the master. */
export interface ClusterMembership {
  /** One line that lets one machine join, within this time; it is a secret. */
  invite(minutes: number): Promise<string>;
  /** Lets a member start no new jobs and give away what it has; waits until it holds nothing, or for so long. */
  drain(id: string, options: DrainOptions): Promise<DrainReport>;
  /** Removes a member that does not run any more, and says what became of what it had. */
  forget(id: string, options: { readonly lost: boolean; readonly dryRun: boolean }): Promise<string>;
  /** Changes the key that seals what members tell each other; says what was done. */
  rekey(options: RekeyOptions): Promise<string>;
  /** Closes the ports of this master for some seconds while harmless jobs run, and says what became of these. */
  drill(options: DrillOptions): Promise<DrillReport>;
  /** The last one that any member ran. */
  lastDrill(): Promise<LastDrill | undefined>;
}

export interface DrillOptions {
  readonly seconds: number;
  /** At most so many take part. */
  readonly minions: number;
  /** Also while jobs are under way. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

export interface DrillReport {
  readonly master: string;
  readonly seconds: number;
  readonly minions: readonly string[];
  readonly isDry: boolean;
  /** Minions whose result no master has, and why. */
  readonly lost: Readonly<Record<string, string>>;
  /** So many seconds after its end a result was known here. */
  readonly late: Readonly<Record<string, number>>;
  /** Which other master took the result. */
  readonly rerouted: Readonly<Record<string, string>>;
  /** Without an answer to a job of this master that was published meanwhile. */
  readonly unreached: readonly string[];
  /** Not connected to this master again. */
  readonly away: readonly string[];
}

export interface LastDrill {
  readonly at: Date;
  readonly by: string;
  readonly lost: number;
  readonly minions: number;
}

export interface DrainOptions {
  readonly seconds: number;
  readonly undo: boolean;
  /** Only tells what the member has now. */
  readonly dryRun: boolean;
}

export interface RekeyOptions {
  /** How long the old key still opens what was sealed with it. */
  readonly minutes: number;
  readonly dryRun: boolean;
}

export interface DrainReport {
  /** It can be stopped: nothing is only there. */
  readonly isEmpty: boolean;
  /** Records that only its disk has. */
  readonly held: number;
  /** Jobs that only it follows. */
  readonly jobs: readonly string[];
}
