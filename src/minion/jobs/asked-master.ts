// Which master asked for a job, as the spool stores it, and which other masters may have its result.
import { createHash } from 'node:crypto';
import { textField } from '../../base/codec/fields.ts';
import { parsePlain } from '../../base/codec/json/index.ts';
import { dictGet, isDict, type PlainDict } from '../../base/codec/value.ts';
import { fingerprint } from '../../base/crypto/index.ts';
import type { ClusterInfo } from '../../protocol/wire/messages/cluster.ts';

export interface AskedMaster {
  /** `host:port` as in the configuration; empty when nothing is known any more. */
  readonly name: string;
  /** Fingerprint of its RSA key; empty before the first sign-in. */
  readonly key: string;
  /** Name of its cluster; empty without one. */
  readonly cluster: string;
}

/** The destination of a result. */
export interface ReturnTarget {
  readonly name: string;
  readonly ready: boolean;
  /** What is known about the master: a Halite master keeps the jid of a scheduled job, others assign their own. */
  readonly credentials?:
    | { readonly halite?: boolean; readonly masterKeyText?: string; readonly cluster?: ClusterInfo | undefined }
    | undefined;
  request(load: PlainDict, options: { timeoutMs: number; signal?: AbortSignal; halite?: PlainDict }): Promise<unknown>;
}

export const unknownMaster: AskedMaster = { name: '', key: '', cluster: '' };

export function askedMaster({ name, credentials }: Pick<ReturnTarget, 'name' | 'credentials'>): AskedMaster {
  const text = credentials?.masterKeyText;
  return { name, key: text ? fingerprint(text) : '', cluster: credentials?.cluster?.name ?? '' };
}

/** In the names of spool files. */
export function keyOf({ name, key, cluster }: AskedMaster): string {
  return createHash('sha256').update([name, key, cluster].join('\0')).digest('hex').slice(0, 12);
}

export function readAskedMaster(text: string): AskedMaster | undefined {
  try {
    const value = parsePlain(text);
    if (!isDict(value) || dictGet(value, 'name') === undefined) return undefined;
    const field = (name: string): string => textField(value, name) ?? '';
    return { name: field('name'), key: field('key'), cluster: field('cluster') };
  } catch {
    return undefined;
  }
}

/** How the masters of this minion are related to the one that asked. */
export interface Places {
  /** Masters that can take a result now. */
  ready(): readonly ReturnTarget[];
  /** Whether this link is the one to that master, also when the configuration names it twice. */
  serves(target: ReturnTarget, name: string): boolean;
  /** Whether the configuration (or the cluster) names it: it may come back. */
  listed(name: string): boolean;
  /** One master at a time: what was meant for one of them is meant for the next as well. */
  readonly oneAtATime: boolean;
  /** A short connection to a listed master that has no link; undefined when there is none, or it does not answer. */
  visit(name: string): Promise<Visit | undefined>;
}

export interface Visit extends ReturnTarget {
  close(): void;
}

/**
 * Why a master may have a result:
 * - asked: it asked;
 * - member: of the same cluster, which is proved by the same RSA key: a name alone could be claimed by any master;
 * - copy: any listed Halite master; it stores a copy, and the result stays here until the asking master took it;
 * - heir: the asking master is not listed any more, so somebody else must have it.
 */
export type Claim = 'asked' | 'member' | 'copy' | 'heir';

export function claimOf(target: ReturnTarget, asked: AskedMaster, places: Places): Claim | undefined {
  const { credentials } = target;
  if (places.serves(target, asked.name)) return 'asked';
  if (interchangeable(askedMaster(target), asked)) return 'member';
  if (!places.listed(asked.name)) return 'heir';
  return credentials?.halite === true ? 'copy' : undefined;
}

/** Everything of one is everything of the other: results, files, pillar. */
const interchangeable = (one: AskedMaster, other: AskedMaster): boolean =>
  one.cluster !== '' && one.key !== '' && one.cluster === other.cluster && one.key === other.key;

type Known = Pick<ReturnTarget, 'name' | 'credentials'>;

export const sameCluster = (one: Known, other: Known): boolean => interchangeable(askedMaster(one), askedMaster(other));

/** What every member of a cluster would record is told to one of them. */
export function onePerCluster<T extends Known>(masters: readonly T[]): T[] {
  return masters.filter(
    (master, at) => masters.findIndex((other) => other === master || sameCluster(other, master)) === at,
  );
}
