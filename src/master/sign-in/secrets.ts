// The master's secrets: its RSA pair, the AES key that all minions share, and one session key per minion.
import { join } from 'node:path';
import { type AesGeneration, AesKeys, newGeneration } from './aes-keys.ts';
import { KeyRing, type MasterKeyPair } from './master-keys.ts';
import { SessionKeys, type SessionSecrets } from './session-keys.ts';

export interface SecretsOptions {
  readonly cachedir: string;
  readonly publishSession: number;
  readonly sessionSecrets: SessionSecrets;
  /** The AES key of a cluster; a master alone begins with a new one. */
  readonly aes?: AesGeneration;
  /** The time that the members of a cluster agree on. */
  readonly now?: () => number;
  readonly failed: (error: unknown) => void;
}

export class Secrets {
  readonly ring: KeyRing;
  readonly aes: AesKeys;
  readonly sessions: SessionKeys;

  constructor(pair: MasterKeyPair, options: SecretsOptions) {
    const { cachedir, now, aes: first, failed } = options;
    this.ring = new KeyRing(pair);
    this.aes = new AesKeys({ cachedir, failed, ...(first ? { first } : {}) });
    this.sessions = new SessionKeys({
      secrets: options.sessionSecrets,
      folder: join(cachedir, 'sessions'),
      seconds: options.publishSession,
      ...(now ? { now } : {}),
    });
  }

  /** The key that the master presents. */
  get pair(): MasterKeyPair {
    return this.ring.current;
  }

  /** A new AES key; every minion notices at its next message and signs in again. */
  rotate(): void {
    this.aes.use(newGeneration(this.aes.current.generation));
  }
}
