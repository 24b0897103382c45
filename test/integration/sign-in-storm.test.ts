// Many sign-ins at once from peers that do not wait for the answer: the master does none of that work, and serves others.
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { pack } from '../../src/base/codec/msgpack/index.ts';
import { publicPem } from '../../src/base/crypto/index.ts';
import { handshakeBytes, type RawPeer, request, zmtpPeer } from '../../src/protocol/wire/testing/raw-peer.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';
import { RawMinion } from '../support/raw-minion.ts';

const strangers = 400;
const waitMs = 90_000;

let fleet: Deployment;
afterEach(() => fleet?.destroy());

const sum = (text: string, name: string): number =>
  text
    .split('\n')
    .filter((line) => line.startsWith(name))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);

it('drops the sign-ins of peers that have hung up, and does not delay a job or another minion', async () => {
  const [port = 0] = await freePorts(1);
  const exporter = `metrics: {enabled: True, exporter: prometheus, prometheus: {port: ${port}}}\n`;
  fleet = await Deployment.create({ masterConfig: exporter });
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
  const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const before = sum(await metrics(), 'salt_auth_attempts_total');

  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pub = publicPem(publicKey);
  const peers: RawPeer[] = [];
  for (let n = 0; n < strangers; n++) peers.push(await zmtpPeer(fleet.ports.requests, 'REQ'));
  const areReady = (): boolean => peers.every((peer) => peer.received().length >= handshakeBytes('ROUTER'));
  await eventually('all connections to be there', areReady, { timeoutMs: waitMs });
  // The master finds all of them at once, and each peer gone.
  process.kill(-fleet.master.pid, 'SIGSTOP');
  for (const [n, { socket }] of peers.entries()) {
    const load = { cmd: '_auth', id: `stranger-${n}`, pub, nonce: 'n'.repeat(32) };
    socket.end(request(pack({ enc: 'clear', load, version: 3 })));
  }
  const isSent = (): boolean => peers.every(({ socket }) => socket.writableFinished);
  await eventually('all sign-ins to be sent', isSent, { timeoutMs: waitMs }).finally(() =>
    process.kill(-fleet.master.pid, 'SIGCONT'),
  );
  const honest = await RawMinion.start(fleet, 'honest');
  expect(honest.session).toBeDefined();
  honest.stop();
  expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });

  let text = '';
  const done = async (): Promise<boolean> => {
    text = await metrics();
    const dropped = sum(text, 'halite_requests_refused_total{reason="gone"}');
    return dropped > 0 && dropped + sum(text, 'salt_auth_attempts_total') - before > strangers;
  };
  await eventually('every sign-in to be served or dropped', done, { timeoutMs: waitMs, describe: () => text });
  for (const { socket } of peers) socket.destroy();
});
