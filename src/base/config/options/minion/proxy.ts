// Option table of the minion: proxy minions.
import type { OptionRow } from '../row.ts';

export const minionProxy = [
  { name: 'proxyid', type: 'str', doc: 'Id of the proxy minion; set by the command line.' },
  {
    name: 'proxy',
    type: 'dict',
    doc: 'The device, when the pillar does not describe it: `proxytype`, and what that type needs.',
  },
  {
    name: 'metaproxy',
    type: 'str',
    assumed: 'proxy',
    doc: '`deltaproxy`: this proxy starts those of `ids` in its pillar, all in one process.',
  },
  { name: 'proxy_dirs', type: 'strs', assumed: [], doc: 'More folders with proxy types.' },
  {
    name: 'proxy_call_timeout',
    type: 'int',
    assumed: 600,
    since: 'Halite 0.1',
    doc: 'Seconds after which a call to the device is given up and its connection made again; 0 for no limit.',
  },
  {
    name: 'add_proxymodule_to_opts',
    type: 'bool',
    assumed: false,
    doc: 'Without effect: modules reach the device by `__proxy__`.',
  },
  {
    name: 'proxy_always_alive',
    type: 'bool',
    assumed: true,
    doc: 'Keep the connection to the device; False closes it after each call.',
  },
  { name: 'proxy_keep_alive', type: 'bool', assumed: true, doc: 'Check the connection to the device regularly.' },
  { name: 'proxy_keep_alive_interval', type: 'int', assumed: 1, doc: 'Minutes between these checks.' },
  {
    name: 'proxy_merge_grains_in_module',
    type: 'bool',
    assumed: true,
    doc: 'Let the proxy type add grains of its device.',
  },
  {
    name: 'proxy_merge_pillar_in_opts',
    type: 'bool',
    assumed: false,
    doc: 'Merge the pillar into the options, except those that say who and where the minion is.',
  },
  { name: 'proxy_deep_merge_pillar_in_opts', type: 'bool', assumed: false, doc: 'Join lists when it is merged.' },
  { name: 'proxy_merge_pillar_in_opts_strategy', type: 'str', assumed: 'smart', doc: 'How maps are merged then.' },
  { name: 'proxy_mines_pillar', type: 'bool', assumed: true, doc: 'Use the mine settings of the pillar.' },
] as const satisfies readonly OptionRow[];
