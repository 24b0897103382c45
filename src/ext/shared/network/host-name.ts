// Host name, fully qualified name and addresses.

import { lookup, lookupService } from 'node:dns/promises';
import { hostname } from 'node:os';
import { type GrainContext, newDict, type PlainDict, withTimeout } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines, partition, words } from 'halite/sdk/text';

/** A name server that does not answer must not block the minion; Salt waits for the resolver's own limit. */
const resolverDeadline = 3000;

function withDeadline<T>(work: Promise<T>, fallback: T, milliseconds = resolverDeadline): Promise<T> {
  const late = (): T => fallback;
  return withTimeout(work.catch(late), milliseconds, late, { ref: false });
}

/** First name on the line of /etc/hosts that names this host: the canonical one. */
export function canonicalInHosts(hosts: string, name: string): string | undefined {
  for (const line of lines(hosts)) {
    const [, ...names] = words(line.split('#', 1)[0] ?? '');
    if (names.includes(name)) return names[0];
  }
  return undefined;
}

/** Canonical name by the system's resolver; /etc/hosts answers without a child process. */
export async function fullyQualifiedName(ctx: GrainContext): Promise<string> {
  const name = hostname() || 'localhost.localdomain';
  const listed = canonicalInHosts(readText('/etc/hosts') ?? '', name);
  if (listed) return listed;
  const getent = which('getent');
  if (!getent) return name;
  // Node's resolver cannot report canonical names; getent prints them in its third column.
  const { retcode, stdout } = await ctx.exec(getent, ['ahosts', name], { timeoutMs: resolverDeadline });
  const canonical = retcode === 0 ? words(lines(stdout)[0] ?? '')[2] : undefined;
  return canonical ?? name;
}

export async function addressesOfName(name: string, family: 4 | 6): Promise<string[]> {
  const found = await withDeadline(lookup(name, { all: true, family }), []);
  return [...new Set(found.map((entry) => entry.address))];
}

/** Names of addresses, sorted; addresses without a name are omitted. */
export async function reverseNames(addresses: readonly string[]): Promise<string[]> {
  const hosts = readText('/etc/hosts') ?? '';
  const nameOf = async (address: string): Promise<string> => {
    const { hostname: name } = await lookupService(address, 0);
    return name === address ? '' : name.includes('.') ? name : (canonicalInHosts(hosts, name) ?? name);
  };
  const names = await Promise.all(addresses.map((address) => withDeadline(nameOf(address), '')));
  return [...new Set(names.filter(Boolean))].sort();
}

/** `localhost`, `fqdn`, `host`, `domain`. */
export function hostGrains(fqdn: string): PlainDict {
  const [host, , domain] = partition(fqdn, '.');
  return newDict([
    ['localhost', hostname()],
    ['fqdn', fqdn],
    ['host', host],
    ['domain', domain],
  ]);
}
