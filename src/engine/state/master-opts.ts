// `_master_opts`: the options of the master that state runs of minions and of SSH targets need.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';

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

/** Only names of environments, never the master's folders. */
export function masterOptsFor(opts: PlainDict, load: PlainDict): Value {
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
