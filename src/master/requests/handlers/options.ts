// Requests about the master itself: `_master_opts`, `_master_tops`, and key revocation.
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { MasterOpts } from '../../../base/config/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { masterOptsFor } from '../../../engine/state/master-opts.ts';
import { MasterTops } from '../../../engine/state/master-tops.ts';
import type { KeyStore } from '../../../store/keys.ts';
import type { KeyChanges } from '../../sign-in/key-changes.ts';
import type { Sender } from '../sender.ts';
import type { Handlers } from './table.ts';

export interface OptionParts {
  readonly opts: Pick<MasterOpts, 'raw' | 'allow_minion_key_revoke'>;
  readonly log: Logger;
  readonly keys: Pick<KeyStore, 'delete'>;
  readonly keyChanges: Pick<KeyChanges, 'changed'>;
}

export function optionHandlers(parts: OptionParts): Handlers {
  const assigned = new MasterTops(parts);
  const tops = { run: (load: PlainDict, sender: Sender) => assigned.of(sender.id, load) };
  return {
    _master_opts: { run: (load) => masterOptsFor(parts.opts.raw, load) },
    _master_tops: tops,
    _ext_nodes: tops,
    verify_minion: { run: () => newDict() },
    _register_resources: { run: () => true },
    revoke_auth: { run: (_load, sender) => revoke(parts, sender) },
  };
}

async function revoke({ opts, log, keys, keyChanges }: OptionParts, sender: Sender): Promise<Value> {
  if (!opts.allow_minion_key_revoke) return false;
  const gone = await keys.delete('accepted', sender.id);
  if (gone) {
    log.warn('minion revoked its own key', { minion: sender.id });
    keyChanges.changed('delete', sender.id);
  }
  return gone;
}
