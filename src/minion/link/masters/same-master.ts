// Whether two links lead to the same master: it would send everything twice.
import { lookup } from 'node:dns/promises';
import type { MasterLink } from '../master-link.ts';

/**
 * The same key, and either an address and port in common or the same member of the same cluster. The key alone is not
 * enough: all masters of a minion have the same one.
 */
export async function isSameMaster(one: MasterLink, other: MasterLink): Promise<boolean> {
  const [mine, theirs] = [one.credentials, other.credentials];
  if (!mine || !theirs || mine.masterKeyText !== theirs.masterKeyText) return false;
  if (mine.cluster && theirs.cluster) {
    if (mine.cluster.name === theirs.cluster.name && mine.cluster.member === theirs.cluster.member) return true;
  }
  return shareAddress(one, other);
}

export async function shareAddress(one: MasterLink, other: MasterLink): Promise<boolean> {
  if (one.address.port !== other.address.port) return false;
  const [mine, theirs] = await Promise.all([addressesOf(one.address.host), addressesOf(other.address.host)]);
  return theirs.some((address) => mine.includes(address));
}

function addressesOf(host: string): Promise<string[]> {
  return lookup(host, { all: true }).then(
    (found) => found.map((item) => item.address),
    () => [],
  );
}
