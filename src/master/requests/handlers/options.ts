// Requests about the master itself: `_master_opts`, `_master_tops`, and key revocation.
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { MasterOpts } from '../../../base/config/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { KeyStore } from '../../../store/keys.ts';
import { MasterTops } from '../../fleet/tops.ts';
import type { KeyChanges } from '../../sign-in/key-changes.ts';
import type { Sender } from '../sender.ts';
import type { Handlers } from './table.ts';

const shared = [
  'renderer',
  'failhard',
  'state_top',
  'state_top_saltenv',
  'nodegroups',
  'state_auto_order',
  'state_events',
  'state_aggregate',
  'jinja_env',
  'jinja_sls_env',
  'jinja_lstrip_blocks',
  'jinja_trim_blocks',
] as const;

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
    _master_opts: { run: (load) => masterOpts(parts.opts.raw, load) },
    _master_tops: tops,
    _ext_nodes: tops,
    verify_minion: { run: () => newDict() },
    _register_resources: { run: () => true },
    revoke_auth: { run: (_load, sender) => revoke(parts, sender) },
  };
}

function masterOpts(opts: PlainDict, load: PlainDict): Value {
  const roots = newDict();
  for (const env of Object.keys((opts['file_roots'] as PlainDict | undefined) ?? { base: [] })) roots[env] = [];
  const reply = newDict([
    ['file_roots', roots],
    ['top_file_merging_strategy', opts['top_file_merging_strategy'] ?? 'merge'],
    ['env_order', opts['env_order'] ?? []],
    ['default_top', opts['default_top'] ?? 'base'],
  ]);
  if (load['env_only']) return reply;
  for (const name of shared) reply[name] = opts[name] ?? null;
  return reply;
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
