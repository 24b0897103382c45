// Authentication module `ldap`: a directory (OpenLDAP, Active Directory, FreeIPA) checks the password and knows groups.
import { type Accepted, defineAuth, HaliteError, type Login } from 'halite/sdk';
import { binds, computersBelow, connected, findUser, groupsOf } from './shared/ldap-client.ts';
import { type LdapSettings, readLdapSettings } from './shared/ldap-settings.ts';
import { fill, inName } from './shared/ldap-text.ts';

const keepMs = 60_000;

/** The user's entry: found by the account for searches, or named by a template. */
async function dnOf(settings: LdapSettings, username: string): Promise<string | undefined> {
  const { bindDn, bindPassword } = settings;
  if (bindPassword === '' && !settings.anonymous) return fill(bindDn, username, inName) || undefined;
  return connected(settings, async (client) => {
    if (bindPassword !== '' && !(await binds(client, bindDn, bindPassword)))
      throw new HaliteError('auth.failed', 'the directory refuses auth.ldap.binddn and bindpw');
    return findUser(client, settings, username);
  });
}

async function check(settings: LdapSettings, { username, password }: Login): Promise<Accepted | undefined> {
  // A bind without a password succeeds as nobody.
  if (username === '' || password === '' || password.includes('\0')) return undefined;
  const dn = await dnOf(settings, username);
  if (dn === undefined) return undefined;
  const { groupsOnly, anonymous, bindDn, bindPassword } = settings;
  return connected(settings, async (client) => {
    if (!(groupsOnly && anonymous) && !(await binds(client, dn, password))) return undefined;
    // Users often may not read groups.
    if (bindPassword !== '') await client.bind(bindDn, bindPassword);
    // The name of Active Directory (`fred@example.com`) is no entry.
    const entry = dn.includes('=') ? dn : '';
    return { groups: [...new Set(await groupsOf(client, settings, username, entry))] };
  });
}

export default defineAuth({
  name: 'ldap',
  doc: 'A directory: OpenLDAP, Active Directory or FreeIPA. Options: `auth.ldap.*`, as in Salt.',
  open(_settings, { opts, log }) {
    const settings = readLdapSettings(opts);
    if (settings.groupsOnly && settings.anonymous)
      log.warn('ldap: auth_by_group_membership_only with anonymous accepts every password of a name in the directory');
    if (!settings.verify) log.warn('ldap: no_verify accepts every certificate');
    const known = new Map<string, { readonly at: number; readonly ids: Promise<readonly string[]> }>();
    const minions = (branch: string): Promise<readonly string[]> =>
      connected(settings, async (client) => {
        if (settings.bindPassword !== '') await client.bind(settings.bindDn, settings.bindPassword);
        return computersBelow(client, settings, branch);
      });
    return {
      check: (login) => check(settings, login),
      minions(target) {
        const [, branch] = /^ldap\((.+)\)$/.exec(target) ?? [];
        if (branch === undefined) return undefined;
        const cached = known.get(branch);
        if (cached && Date.now() - cached.at < keepMs) return cached.ids;
        const ids = minions(branch);
        known.set(branch, { at: Date.now(), ids });
        ids.catch(() => known.delete(branch));
        return ids;
      },
    };
  },
});
