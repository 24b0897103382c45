// A real directory (slapd) on a private port, with one entry at its root.
import { mkdirSync, writeFileSync } from 'node:fs';
import { listens } from './memcached.ts';
import { preparedProgram, type RunningServer, startServer } from './server.ts';

export const directoryRoot = 'dc=example,dc=com';
export const directoryAdmin = { method: 'simple', dn: `cn=admin,${directoryRoot}`, password: 'it is secret' };

/** Starts one; undefined when it is not there. */
export async function startDirectory(): Promise<RunningServer | undefined> {
  const program = preparedProgram('slapd', 'slapd');
  if (!program || !preparedProgram('ldapsearch', 'ldap-utils')) return undefined;
  return startServer({
    name: 'slapd',
    prepare(folder) {
      mkdirSync(`${folder}/data`);
      const lines = [
        ...['core', 'cosine', 'inetorgperson', 'nis'].map((name) => `include /etc/ldap/schema/${name}.schema`),
        'modulepath /usr/lib/ldap',
        'moduleload back_mdb',
        `pidfile ${folder}/pid`,
        'database mdb',
        `suffix "${directoryRoot}"`,
        `rootdn "${directoryAdmin.dn}"`,
        `rootpw "${directoryAdmin.password}"`,
        `directory ${folder}/data`,
      ];
      writeFileSync(`${folder}/slapd.conf`, `${lines.join('\n')}\n`);
    },
    command: (port, folder) => [program, '-h', `ldap://127.0.0.1:${port}`, '-f', `${folder}/slapd.conf`, '-d', '0'],
    ready: listens,
  });
}
