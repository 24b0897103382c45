// Accepting, rejecting and deleting keys, and notifying a running master.
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientOpts } from '../../base/config/opts.ts';
import { loadPublicKey } from '../../base/crypto/keys.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import { socketName } from '../../engine/client/socket.ts';
import type { KeyState } from '../../extend/sdk/context.ts';
import type { KeyAct, KeyStore } from '../../store/keys.ts';
import type { Terminal } from '../io.ts';
import type { KeySelection } from './folders.ts';

export interface KeyChange {
  readonly act: KeyAct;
  readonly id: string;
}

function isPublicKey(text: string | undefined): boolean {
  if (text === undefined) return false;
  try {
    loadPublicKey(text);
    return true;
  } catch {
    return false;
  }
}

async function moveKey(store: KeyStore, id: string, from: KeyState, to: KeyState): Promise<boolean> {
  try {
    await store.move(id, from, to);
    return true;
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Applies the action, and returns the affected ids in the order of the selection. */
export async function changeKeys(
  store: KeyStore,
  act: KeyAct,
  selection: KeySelection,
  io: Terminal,
): Promise<KeyChange[]> {
  const done: KeyChange[] = [];
  for (const [state, ids] of selection) {
    for (const id of ids) {
      if (act !== 'delete' && !isValidMinionId(id)) {
        io.err(`The key ${id} is not named like a minion: it can only be deleted ("salt-key -d").\n`);
        continue;
      }
      if (act === 'accept' && !isPublicKey(store.readText(state, id))) {
        io.err(`Unable to accept invalid key for ${id}.\n`);
        continue;
      }
      const worked =
        act === 'delete'
          ? await store.delete(state, id)
          : await moveKey(store, id, state, act === 'accept' ? 'accepted' : 'rejected');
      if (worked) done.push({ act, id });
    }
  }
  return done;
}

/** Cached data of minions whose key was deleted, in the folders of real Salt masters. */
export function dropMinionCache(cachedir: string, store: KeyStore, ids: readonly string[]): void {
  for (const id of ids) {
    if (!isValidMinionId(id) || store.statesOf(id).length > 0) continue;
    rmSync(join(cachedir, 'minions', id), { recursive: true, force: true });
  }
}

/** A master that cannot be contacted finds this file and renews its session key. */
function requestRotation(cachedir: string): void {
  const file = join(cachedir, '.dfn');
  if (existsSync(file) || !existsSync(cachedir)) return;
  writeFileSync(file, '', { mode: 0o600 });
  chmodSync(file, 0o400);
}

/** Notifies the running master, so that it fires events and renews its session key immediately. */
export async function tellMaster(opts: ClientOpts, changes: readonly KeyChange[], rotate: boolean): Promise<void> {
  if (changes.length === 0) return;
  if (!existsSync(join(opts.sock_dir, socketName))) {
    if (rotate) requestRotation(opts.cachedir);
    return;
  }
  const { connectLocal } = await import('../../engine/client/local.ts');
  try {
    const client = await connectLocal(opts);
    try {
      await client.keysChanged(changes, rotate);
    } finally {
      client.close();
    }
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'daemon.unreachable') throw error;
    if (rotate) requestRotation(opts.cachedir);
  }
}
