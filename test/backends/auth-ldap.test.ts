// Authentication by a real directory: binding, searching, groups, and names that try to be more than a name.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import ldap from '../../src/ext/auth/ldap.ts';
import type { Value } from '../../src/extend/sdk/index.ts';
import { openModule } from '../support/auth-module.ts';
import { runProgram } from '../support/deployment.ts';
import type { RunningServer } from '../support/servers/server.ts';
import { directoryAdmin, directoryRoot, startDirectory } from '../support/servers/slapd.ts';

const people = `ou=People,${directoryRoot}`;
const groups = `ou=Groups,${directoryRoot}`;
const person = (uid: string, more = ''): string =>
  `dn: uid=${uid},${people}\nobjectClass: inetOrgPerson\nuid: ${uid}\ncn: ${uid}\nsn: ${uid}\nuserPassword: pw of ${uid}\n${more}`;
const entries = [
  `dn: ${directoryRoot}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: example\n`,
  `dn: ${people}\nobjectClass: organizationalUnit\nou: People\n`,
  `dn: ${groups}\nobjectClass: organizationalUnit\nou: Groups\n`,
  `dn: ou=Machines,${directoryRoot}\nobjectClass: organizationalUnit\nou: Machines\n`,
  person('fred'),
  // The attribute that says whose groups they are in schemas that have none of their own.
  person('ann', `seeAlso: cn=dba,${groups}\n`),
  person('two', 'mail: shared\n'),
  person('three', 'mail: shared\n'),
  `dn: cn=ops,${groups}\nobjectClass: posixGroup\ncn: ops\ngidNumber: 1\nmemberUid: fred\nmemberUid: ann\n`,
  `dn: cn=web,${groups}\nobjectClass: posixGroup\ncn: web\ngidNumber: 2\nmemberUid: ann\n`,
  `dn: cn=directors,${groups}\nobjectClass: groupOfNames\ncn: directors\nmember: uid=ann,${people}\n`,
];

let server: RunningServer | undefined;
beforeAll(async () => {
  server = await startDirectory();
  if (!server) return;
  const args = ['-x', '-H', `ldap://127.0.0.1:${server.port}`, '-D', directoryAdmin.dn, '-w', directoryAdmin.password];
  const added = await runProgram('ldapadd', args, { input: entries.join('\n') });
  if (added.code !== 0) throw new Error(`ldapadd: ${added.stderr}`);
});
afterAll(() => server?.stop());

const options = (own: Record<string, Value>): Record<string, Value> => ({
  'auth.ldap.uri': `ldap://127.0.0.1:${server?.port ?? 0}`,
  'auth.ldap.basedn': directoryRoot,
  ...Object.fromEntries(Object.entries(own).map(([name, value]) => [`auth.ldap.${name}`, value])),
});
const search = { binddn: directoryAdmin.dn, bindpw: directoryAdmin.password, filter: 'uid={{ username }}' };
const template = { binddn: `uid={{ username }},${people}` };

describe('a directory', () => {
  it.each([
    ['with a search for the user', search],
    ['with a template of names', template],
  ])('%s', async (_, own) => {
    if (!server) return;
    const { groupsOf } = await openModule(ldap, options({ ...own, groupattribute: 'seeAlso' }));
    expect(await groupsOf('fred', 'pw of fred')).toEqual(['ops']);
    expect(await groupsOf('ann', 'pw of ann')).toEqual(['dba', 'ops', 'web']);
    for (const [name, password] of [
      ['fred', 'pw of ann'],
      ['fred', ''],
      ['fred', '\0'],
      ['', ''],
      ['', 'pw of fred'],
      ['*', 'pw of fred'],
      ['f*', 'pw of fred'],
      ['fred)(uid=*', 'pw of fred'],
      ['*)(uid=*))(|(uid=*', 'pw of fred'],
      ['fred,ou=People', 'pw of fred'],
      [`fred,${people}`, 'pw of fred'],
      ['fred\0', 'pw of fred'],
      ['fr\\65d', 'pw of fred'],
      ['nobody', 'pw of fred'],
      ['x'.repeat(10_000), 'pw of fred'],
    ] as const)
      expect(await groupsOf(name, password), JSON.stringify([name.slice(0, 40), password])).toBeUndefined();
  });

  it('refuses a name that is not of one entry', async () => {
    if (!server) return;
    const { accepts } = await openModule(ldap, options({ ...search, filter: 'mail={{ username }}' }));
    expect(await accepts('shared', 'pw of two')).toBe(false);
    expect(await accepts('shared', 'pw of three')).toBe(false);
  });

  it('finds groups as Active Directory and FreeIPA store them', async () => {
    if (!server) return;
    const directory = { ...search, accountattributename: 'uid', groupclass: 'groupOfNames' };
    const active = await openModule(ldap, options({ ...directory, activedirectory: true }));
    expect(await active.groupsOf('ann', 'pw of ann')).toEqual(['directors']);
    expect(await active.groupsOf('fred', 'pw of fred')).toEqual([]);
    const own = { accountattributename: 'memberUid', groupattribute: 'member', group_basedn: groups };
    const filter = `(|(memberUid={{ username }})(member=uid={{ username }},${people}))`;
    const ipa = await openModule(ldap, options({ ...search, ...own, freeipa: true, group_filter: filter }));
    expect(await ipa.groupsOf('ann', 'pw of ann')).toEqual(['directors', 'ops', 'web']);
    expect(await ipa.groupsOf('fred', 'pw of fred')).toEqual(['ops']);
  });

  it('refuses everybody while it cannot be reached, or refuses our own account', async () => {
    if (!server) return;
    const wrong = await openModule(ldap, options({ ...search, bindpw: 'wrong' }));
    expect(await wrong.accepts('fred', 'pw of fred')).toBe(false);
    const away = await openModule(ldap, { ...options(search), 'auth.ldap.uri': 'ldap://127.0.0.1:9' });
    expect(await away.accepts('fred', 'pw of fred')).toBe(false);
    await expect(openModule(ldap, options({ tls: true, starttls: true }))).rejects.toThrow(/exclude each other/);
    await expect(openModule(ldap, options({ ...search, filter: '' }))).rejects.toThrow(/basedn and filter/);
    // The password of one entry would open every name.
    await expect(openModule(ldap, options({ ...search, filter: 'uid=fred' }))).rejects.toThrow(/must contain/);
    await expect(openModule(ldap, options({ binddn: `uid=fred,${people}` }))).rejects.toThrow(/must contain/);
  });

  it('warns about settings that accept too much', async () => {
    if (!server) return;
    const own = { anonymous: true, auth_by_group_membership_only: true, filter: 'uid={{ username }}', no_verify: true };
    expect((await openModule(ldap, options(own))).warnings).toHaveLength(2);
  });
});
