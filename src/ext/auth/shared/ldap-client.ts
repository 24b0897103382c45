// Connections of the module `ldap`: one for each login, which ends with it.
import { HaliteError, messageOf } from 'halite/sdk';
import type { Client, Entry } from 'ldapts';
import type { LdapSettings } from './ldap-settings.ts';
import { fill, firstPart, inFilter } from './ldap-text.ts';

const timeoutMs = 10_000;
/** One is enough to know a user; the second says that the name is ambiguous. */
const mostUsers = 2;
const mostGroups = 1000;

export async function connected<T>(settings: LdapSettings, work: (client: Client) => Promise<T>): Promise<T> {
  const { Client: LdapClient } = await import('ldapts');
  const tlsOptions = { rejectUnauthorized: settings.verify };
  const secure = settings.url.startsWith('ldaps:') ? { tlsOptions } : {};
  const client = new LdapClient({ url: settings.url, timeout: timeoutMs, connectTimeout: timeoutMs, ...secure });
  try {
    if (settings.startTls) await client.startTLS(tlsOptions);
    return await work(client);
  } finally {
    await client.unbind().catch(() => undefined);
  }
}

/** False when the directory refuses the password; other failures are errors. */
export async function binds(client: Client, dn: string, password: string): Promise<boolean> {
  try {
    await client.bind(dn, password);
    return true;
  } catch (error) {
    const { InvalidCredentialsError, NoSuchObjectError } = await import('ldapts');
    if (error instanceof InvalidCredentialsError || error instanceof NoSuchObjectError) return false;
    throw new HaliteError('auth.failed', `the directory refused the connection: ${messageOf(error)}`);
  }
}

/** The name of the only entry that the filter finds. */
export async function findUser(client: Client, settings: LdapSettings, username: string): Promise<string | undefined> {
  const filter = fill(settings.filter, username, inFilter);
  const { searchEntries } = await client.search(settings.baseDn, {
    ...{ scope: settings.scope, filter, attributes: ['1.1'], sizeLimit: mostUsers },
  });
  const [first, second] = searchEntries;
  if (second) throw new HaliteError('auth.failed', 'the filter finds several entries of this name');
  return first?.dn;
}

async function entries(client: Client, base: string, filter: string, attributes: string[]): Promise<Entry[]> {
  const options = { scope: 'sub' as const, filter, attributes, sizeLimit: mostGroups };
  return (await client.search(base, options)).searchEntries;
}

/** Names of attributes differ in case between servers. */
function valuesOf(entry: Entry, attribute: string): string[] {
  const key = Object.keys(entry).find((name) => name.toLowerCase() === attribute.toLowerCase());
  const value: unknown = key === undefined ? undefined : entry[key];
  const list: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.map((item) => (item instanceof Uint8Array ? Buffer.from(item).toString('utf8') : String(item)));
}

async function plainGroups(
  client: Client,
  settings: LdapSettings,
  username: string,
  userDn: string,
): Promise<string[]> {
  const base = settings.groupOu === '' ? settings.baseDn : `ou=${settings.groupOu},${settings.baseDn}`;
  const name = inFilter(username);
  const filter = `(&(${settings.accountAttribute}=${name})(objectClass=${settings.groupClass}))`;
  const listed = await entries(client, base, filter, ['cn']).catch(async (error: unknown) => {
    const { NoSuchObjectError } = await import('ldapts');
    // A directory without this branch has no such groups.
    if (error instanceof NoSuchObjectError) return [];
    throw error;
  });
  const own = userDn === '' ? [] : await ownGroups(client, settings, userDn);
  return [...listed.flatMap((entry) => valuesOf(entry, 'cn')), ...own];
}

async function ownGroups(client: Client, { groupAttribute }: LdapSettings, userDn: string): Promise<string[]> {
  const options = { scope: 'base' as const, filter: '(objectClass=*)', attributes: [groupAttribute] };
  const { searchEntries } = await client.search(userDn, options).catch(() => ({ searchEntries: [] as Entry[] }));
  return searchEntries.flatMap((entry) => valuesOf(entry, groupAttribute)).flatMap((dn) => firstPart(dn) ?? []);
}

async function activeDirectoryGroups(client: Client, settings: LdapSettings, username: string): Promise<string[]> {
  const { accountAttribute, personType, groupClass, baseDn } = settings;
  const who = `(&(${accountAttribute}=${inFilter(username)})(objectClass=${personType}))`;
  const [user] = await entries(client, baseDn, who, ['1.1']);
  if (!user) return [];
  const found = await entries(client, baseDn, `(&(member=${inFilter(user.dn)})(objectClass=${groupClass}))`, ['cn']);
  return found.flatMap((entry) => valuesOf(entry, 'cn'));
}

async function freeIpaGroups(client: Client, settings: LdapSettings, username: string): Promise<string[]> {
  const { accountAttribute, groupAttribute, groupBaseDn, groupFilter } = settings;
  const filter = fill(groupFilter, username, inFilter);
  const found = await entries(client, groupBaseDn || settings.baseDn, filter, [accountAttribute, groupAttribute]);
  const isMember = (entry: Entry): boolean =>
    [accountAttribute, groupAttribute].some((attribute) =>
      valuesOf(entry, attribute).some((value) => (firstPart(value) ?? value) === username),
    );
  return found.filter(isMember).flatMap((entry) => firstPart(entry.dn) ?? []);
}

/** Groups of a user, as the kind of directory stores them. */
export function groupsOf(client: Client, settings: LdapSettings, username: string, userDn: string): Promise<string[]> {
  if (settings.kind === 'activedirectory') return activeDirectoryGroups(client, settings, username);
  if (settings.kind === 'freeipa') return freeIpaGroups(client, settings, username);
  return plainGroups(client, settings, username, userDn);
}

/** The ids of the computers below a branch, for `ldap(OU=…)` in rules. */
export async function computersBelow(client: Client, settings: LdapSettings, branch: string): Promise<string[]> {
  const found = await entries(client, branch, '(objectClass=computer)', ['cn']);
  const suffix = settings.stripDomains.map((domain) => domain.toLowerCase());
  return found
    .flatMap((entry) => valuesOf(entry, 'cn'))
    .map((name) => name.toLowerCase())
    .map((name) => name.slice(0, name.length - (suffix.find((domain) => name.endsWith(domain))?.length ?? 0)))
    .filter((id) => /^[\w.-]+$/.test(id));
}
