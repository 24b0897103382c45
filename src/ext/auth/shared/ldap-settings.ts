// Options of the module `ldap`, by Salt's names and with its defaults.
import { asText, fieldOf, HaliteError, isDict, listTexts, type Value } from 'halite/sdk';

export interface LdapSettings {
  readonly url: string;
  readonly startTls: boolean;
  readonly verify: boolean;
  readonly scope: 'base' | 'one' | 'sub';
  readonly baseDn: string;
  readonly bindDn: string;
  readonly bindPassword: string;
  readonly filter: string;
  readonly anonymous: boolean;
  readonly groupsOnly: boolean;
  readonly groupOu: string;
  readonly groupClass: string;
  readonly accountAttribute: string;
  readonly groupAttribute: string;
  readonly personType: string;
  readonly kind: 'plain' | 'activedirectory' | 'freeipa';
  readonly groupBaseDn: string;
  readonly groupFilter: string;
  readonly stripDomains: readonly string[];
}

const scopes = ['base', 'one', 'sub'] as const;

/** `auth.ldap.NAME`, or NAME below `auth.ldap`. */
export function readLdapSettings(opts: Readonly<Record<string, Value>>): LdapSettings {
  const nested = opts['auth.ldap'];
  const raw = (name: string): Value =>
    opts[`auth.ldap.${name}`] ?? (isDict(nested) ? fieldOf(nested, name) : null) ?? null;
  const text = (name: string, usual = ''): string => asText(raw(name)) || usual;
  const flag = (name: string): boolean => raw(name) === true;
  const wrong = (why: string): never => {
    throw new HaliteError('config.value', `auth.ldap: ${why}`);
  };
  if (flag('tls') && flag('starttls')) wrong('tls and starttls exclude each other');
  const scope = scopes[Number(raw('scope') ?? 2)] ?? wrong('scope is 0, 1 or 2');
  const host = text('server', 'localhost');
  const url = text('uri') || `${flag('tls') ? 'ldaps' : 'ldap'}://${host}:${String(raw('port') ?? 389)}`;
  if (!/^ldaps?:\/\//.test(url)) wrong(`uri ${JSON.stringify(url)} begins neither with ldap:// nor with ldaps://`);
  const baseDn = text('basedn');
  if (text('bindpw') !== '' && (baseDn === '' || text('filter') === ''))
    wrong('a search for the user (binddn, bindpw) needs basedn and filter');
  const place = /\{\{\s*username\s*\}\}/;
  // Otherwise the password of one entry would open every name.
  const searches = text('bindpw') !== '' || flag('anonymous');
  if (searches && !place.test(text('filter'))) wrong('filter must contain {{ username }}');
  if (!searches && text('binddn') !== '' && !place.test(text('binddn')))
    wrong('binddn without bindpw is the name of the user: it must contain {{ username }}');
  return {
    ...{ url, scope, baseDn, startTls: flag('starttls'), verify: !flag('no_verify') },
    ...{ bindDn: text('binddn'), bindPassword: text('bindpw'), filter: text('filter') },
    ...{ anonymous: flag('anonymous'), groupsOnly: flag('auth_by_group_membership_only') },
    groupOu: text('groupou', 'Groups'),
    groupClass: text('groupclass', 'posixGroup'),
    accountAttribute: text('accountattributename', 'memberUid'),
    groupAttribute: text('groupattribute', 'memberOf'),
    personType: text('persontype', 'person'),
    kind: flag('activedirectory') ? 'activedirectory' : flag('freeipa') ? 'freeipa' : 'plain',
    ...{ groupBaseDn: text('group_basedn'), groupFilter: text('group_filter') },
    stripDomains: listTexts(raw('minion_stripdomains')),
  };
}
