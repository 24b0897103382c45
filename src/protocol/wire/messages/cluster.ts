// How a master names its cluster to Halite minions.
import { listField, textField } from '../../../base/codec/fields.ts';
import { type Dict, isDict, isTexts, newDict, type Value } from '../../../base/codec/value.ts';
import { parseHostPort } from '../../../base/config/master-address.ts';

/** In the answer to a sign-in: the cluster of the master. */
export const clusterField = 'cluster';

export interface ClusterInfo {
  readonly name: string;
  /** This master. */
  readonly member: string;
  /** Addresses of all members, `host:port`. */
  readonly members: readonly string[];
}

/** A cluster has at most ten; some room for one that is growing. */
const mostMembers = 16;
const isName = (text: string): boolean => /^[a-z0-9-]{1,24}$/.test(text);
const isMember = (text: string): boolean => /^[A-Za-z0-9._-]{1,255}$/.test(text);

export function clusterValue({ name, member, members }: ClusterInfo): Dict {
  return newDict([
    ['name', name],
    ['member', member],
    ['members', [...members]],
  ]);
}

/** Undefined for anything that is not exactly this: the master then counts as one without a cluster. */
export function readClusterInfo(value: Value | undefined): ClusterInfo | undefined {
  if (!isDict(value)) return undefined;
  const name = textField(value, 'name');
  const member = textField(value, 'member');
  const members = listField(value, 'members');
  if (name === undefined || member === undefined || !isName(name) || !isMember(member)) return undefined;
  if (!isTexts(members) || members.length > mostMembers || !members.every(isAddress)) return undefined;
  return { name, member, members: [...new Set(members)] };
}

/** `host:port`; without a port nobody could know which one is meant. */
function isAddress(text: string): boolean {
  try {
    return text.length <= 300 && parseHostPort(text).port !== undefined;
  } catch {
    return false;
  }
}
