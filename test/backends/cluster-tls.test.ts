// The connection to nats-servers with TLS and an NKey: who has not both stays outside, whatever the server would allow.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { newDict, type Value } from '../../src/base/codec/value.ts';
import { nullLogger } from '../../src/base/log/null-logger.ts';
import { Connection } from '../../src/engine/cluster/nats/connection.ts';
import { readClusterOptions } from '../../src/engine/cluster/options.ts';
import { listens } from '../support/servers/memcached.ts';
import { natsPrograms } from '../support/servers/nats.ts';
import { startServer } from '../support/servers/server.ts';

function certify(folder: string): void {
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const done = spawnSync('openssl', [...kind, ...name, '-out', join(folder, 'cert'), '-keyout', join(folder, 'key')]);
  expect(done.status).toBe(0);
}

it.each(natsPrograms())(
  'needs the certificate of the server and the own key: nats-server $name',
  async ({ program }) => {
    const [user, other] = [nkeys.createUser(), nkeys.createUser()];
    const server = await startServer({
      name: 'nats-tls',
      prepare(folder, port) {
        certify(folder);
        for (const [name, pair] of Object.entries({ user, other })) writeFileSync(join(folder, name), pair.getSeed());
        const tls = `tls { cert_file: "${folder}/cert", key_file: "${folder}/key" }`;
        const users = `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`;
        writeFileSync(join(folder, 'nats.conf'), `listen: "127.0.0.1:${port}"\n${tls}\n${users}\n`);
      },
      command: (_port, folder) => [program, '-c', join(folder, 'nats.conf')],
      ready: listens,
    });
    const [ca, nkey] = [join(server.folder, 'cert'), join(server.folder, 'user')];
    const open = async (more: Record<string, Value>): Promise<boolean> => {
      const fields = { name: 'test', servers: [`tls://localhost:${server.port}`], ...more };
      const connection = await Connection.open(
        readClusterOptions(newDict(Object.entries(fields)))!,
        'test',
        nullLogger(),
        5000,
      );
      await connection.close();
      return true;
    };
    try {
      expect(await open({ ca, nkey })).toBe(true);
      await expect(open({ nkey })).rejects.toThrow(/certificate/i);
      await expect(open({ ca })).rejects.toThrow(/authorization/i);
      await expect(open({ ca, nkey: join(server.folder, 'other') })).rejects.toThrow(/authorization/i);
      await expect(open({ ca, nkey: join(server.folder, 'none') })).rejects.toThrow(/cluster\.nkey cannot be read/);
    } finally {
      await server.stop();
    }
  },
);
