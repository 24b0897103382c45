// Master and minion over TCP with TLS, both with certificates; connections without one are refused.
import { resolve } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';

const file = (name: string): string => resolve(import.meta.dirname, '../fixtures/wire-tls', name);
let fleet: Deployment;
afterEach(async () => {
  await fleet?.destroy();
});

it('runs jobs over TLS', async () => {
  const ssl = (name: string): string =>
    `ssl:\n  certfile: ${file(`${name}.pem`)}\n  keyfile: ${file(`${name}.key`)}\n  ca_certs: ${file('ca.pem')}\n  cert_reqs: CERT_REQUIRED`;
  fleet = await Deployment.create({ transport: 'tcp', masterConfig: ssl('master') });
  await fleet.startMaster();
  fleet.startMinion('m1', undefined, ssl('minion'));
  await fleet.answering('m1');
  expect(await fleet.json('m1', 'test.echo', 'sealed twice')).toEqual({ m1: 'sealed twice' });
  const refused = await new Promise<boolean>((done) => {
    const socket = connect({ port: fleet.ports.requests, host: '127.0.0.1', rejectUnauthorized: false });
    // TLS 1.3 tells a client without certificate only after the handshake.
    socket.on('error', () => done(true)).on('close', () => done(true));
    socket.on('secureConnect', () => socket.write('hello'));
    socket.setTimeout(5000, () => done(false));
  });
  expect(refused).toBe(true);
});
