// Somebody with access to the nats-servers who is no member: hears what machines ask that want to join, and answers first.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { pack } from '../../src/base/codec/msgpack/index.ts';
import { newDict } from '../../src/base/codec/value.ts';
import { type Invitation, verifierOf } from '../../src/engine/cluster/joining/invitation.ts';
import {
  handoverBytes,
  joinSubject,
  readRequest,
  refusalBytes,
  signedText,
} from '../../src/engine/cluster/joining/messages.ts';
import type { NatsCluster } from './servers/nats.ts';

export class Stranger {
  readonly requests: Uint8Array[] = [];
  readonly #nc: NatsConnection;

  private constructor(nc: NatsConnection) {
    this.#nc = nc;
  }

  /** With a stolen invitation it makes an answer that is right but for the RSA key; without, it makes noise. */
  static async start(nats: NatsCluster, cluster: string, stolen?: Invitation): Promise<Stranger> {
    const nc = await connect({ servers: [...nats.servers] });
    const stranger = new Stranger(nc);
    nc.subscribe(joinSubject(cluster), {
      callback: (error, { data, reply = '' }) => {
        if (error) return;
        stranger.requests.push(data);
        for (const answer of stolen ? [forged(data, stolen)] : noise(data)) nc.publish(reply, answer);
      },
    });
    await nc.flush();
    return stranger;
  }

  stop(): Promise<void> {
    return this.#nc.close();
  }
}

function noise(data: Uint8Array): Uint8Array[] {
  const { request } = readRequest(data)!;
  const text = 'ab'.repeat(32);
  return [
    new Uint8Array(),
    randomBytes(500_000),
    Buffer.from(pack([1, 2, 3])),
    Buffer.from(
      pack(
        newDict([
          ['sealed', 7],
          ['code', []],
        ]),
      ),
    ),
    Buffer.from(
      pack(
        newDict([
          ['sealed', text],
          ['code', text],
        ]),
      ),
    ),
    Buffer.from(pack(newDict([['refused', newDict()]]))),
    Buffer.from(pack(newDict([['refused', 'x'.repeat(400_000)]]))),
    refusalBytes(request, undefined, 'the stranger says no'),
    refusalBytes(request, randomBytes(32), 'the stranger says no'),
  ];
}

function forged(data: Uint8Array, { id, secret }: Invitation): Uint8Array {
  const { request } = readRequest(data)!;
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  return handoverBytes(request, verifierOf(id, secret), {
    ...{ member: 'm1', slot: 1, masterKey: pem, options: newDict(), cluster: newDict(), members: ['m1'] },
    files: new Map([
      ['master.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
      ['master.pub', pem],
    ]),
    signature: sign('sha256', Buffer.from(signedText(request)), privateKey),
    busKeys: `1 ${randomBytes(32).toString('base64')}\n`,
  });
}
