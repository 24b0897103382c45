// Option table of the minion: proxy minions.
import type { OptionRow } from '../row.ts';

export const minionProxy = [
  { name: 'add_proxymodule_to_opts', type: 'bool', doc: 'Put the proxy module into the options.' },
  { name: 'proxy_always_alive', type: 'bool', doc: 'Do not check the connection to the device.' },
  { name: 'proxy_keep_alive', type: 'bool', doc: 'Check the connection to the device regularly.' },
  { name: 'proxy_keep_alive_interval', type: 'int', doc: 'Minutes between these checks.' },
  { name: 'proxy_merge_grains_in_module', type: 'bool', doc: 'Let proxy modules add grains.' },
  { name: 'proxy_merge_pillar_in_opts', type: 'bool', doc: 'Merge the pillar into the options.' },
  { name: 'proxy_deep_merge_pillar_in_opts', type: 'bool', doc: 'Merge it deeply.' },
  { name: 'proxy_merge_pillar_in_opts_strategy', type: 'str', doc: 'Strategy of that deep merge.' },
  { name: 'proxy_mines_pillar', type: 'bool', doc: 'Read mine settings from the pillar.' },
] as const satisfies readonly OptionRow[];
