// What the master tells minions about itself: `_master_opts`, `_master_tops`, and key revocation.
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { Master, Sender } from '../../core.ts';
import { MasterTops } from '../../fleet/tops.ts';
import { keyChanged } from '../../local/services.ts';
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

export function optionHandlers(master: Master): Handlers {
  const assigned = new MasterTops(master);
  const tops = { run: (load: PlainDict, sender: Sender) => assigned.of(sender.id, load) };
  return {
    _master_opts: { run: (load) => masterOpts(master, load) },
    _master_tops: tops,
    _ext_nodes: tops,
    verify_minion: { run: () => newDict() },
    _register_resources: { run: () => true },
    revoke_auth: { run: (_load, sender) => revoke(master, sender) },
  };
}

function masterOpts(master: Master, load: PlainDict): Value {
  const opts = master.opts as unknown as Record<string, Value>;
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

async function revoke(master: Master, sender: Sender): Promise<Value> {
  if (!master.opts.allow_minion_key_revoke) return false;
  const gone = await master.keys.delete('accepted', sender.id);
  if (gone) {
    master.log.warn('minion revoked its own key', { minion: sender.id });
    keyChanged(master, 'delete', sender.id);
  }
  return gone;
}
