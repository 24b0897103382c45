// Accepts the key of a new minion when it is the one that the minion's machine showed over ssh.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientOpts } from '../../base/config/opts.ts';
import { matchesFingerprint } from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { KeyStore } from '../../store/keys.ts';
import type { Terminal } from '../io.ts';
import { changeKeys, tellMaster } from '../key/change.ts';

const patienceMs = 90_000;
const betweenMs = 250;

export interface NewMinion {
  readonly opts: ClientOpts;
  readonly io: Terminal;
  readonly id: string;
  readonly finger: string;
}

export async function acceptKey({ opts, io, id, finger }: NewMinion): Promise<void> {
  const store = new KeyStore(opts.pki_dir, { permissive: opts.permissive_pki_access });
  const fits = (state: 'accepted' | 'pending'): boolean | undefined => {
    const pem = store.readText(state, id);
    return pem === undefined ? undefined : matchesFingerprint(pem, finger, opts.hash_type);
  };
  const until = Date.now() + patienceMs;
  for (;;) {
    const [known, waiting] = [fits('accepted'), fits('pending')];
    if (known === false || waiting === false)
      throw new HaliteError('auth.failed', `Another minion uses the id ${id}: its key is not the one on this host`, {
        hint: `Look at both with: salt-key -f ${id}`,
      });
    if (known) {
      io.out(`${id}: its key is accepted\n`);
      return;
    }
    if (waiting) break;
    if (Date.now() > until)
      throw new HaliteError('wire.timeout', `${id} runs, but its key did not arrive here`, {
        hint: 'Can it reach this master? There: halite doctor',
      });
    await sleep(betweenMs);
  }
  await tellMaster(opts, await changeKeys(store, 'accept', new Map([['pending', [id]]]), io), false);
  io.out(`${id}: its key is accepted, the fingerprint is that of its machine\n`);
}
