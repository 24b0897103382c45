// Option table of the master: access control.
import type { OptionRow } from '../row.ts';

export const masterAccess = [
  {
    name: 'external_auth',
    type: 'dict',
    default: {},
    doc: 'Authentication back ends, their users and what these may run.',
  },
  { name: 'token_expire', type: 'duration', default: 43200, doc: 'Seconds a login token is valid.', reload: true },
  {
    name: 'token_expire_user_override',
    type: ['bool', 'dict'],
    default: false,
    doc: 'Let users, or some of them, choose how long their token is valid.',
  },
  {
    name: 'keep_acl_in_token',
    type: 'bool',
    default: false,
    doc: 'Store permissions in the token instead of looking them up again.',
  },
  {
    name: 'eauth_acl_module',
    type: 'str',
    default: '',
    doc: 'Back end asked for permissions when it is not the one that authenticates.',
  },
  { name: 'eauth_tokens', type: 'str', default: 'localfs', doc: 'Where login tokens are stored.' },
  {
    name: 'eauth_tokens.cache_driver',
    type: ['null', 'str'],
    default: null,
    since: '3008.0',
    doc: 'Cache driver for login tokens.',
  },
  {
    name: 'eauth_tokens.cluster_id',
    type: ['null', 'str'],
    default: null,
    since: '3008.0',
    doc: 'Cluster name used for shared login tokens.',
  },
  { name: 'sudo_acl', type: 'bool', default: false, doc: 'Apply `publisher_acl` to users who come through sudo.' },
  {
    name: 'client_acl_verify',
    type: 'bool',
    default: true,
    doc: 'Check at start that users named in `publisher_acl` exist.',
  },
  {
    name: 'permissive_acl',
    type: 'bool',
    default: false,
    doc: "Let the entry `*` add to a user's own permissions instead of being a fallback.",
  },
  {
    name: 'peer',
    type: 'dict',
    default: {},
    doc: 'Minions and the functions they may run on other minions.',
    reload: true,
  },
  { name: 'peer_run', type: 'dict', doc: 'Minions and the runners they may run.' },
  { name: 'mine_get', type: 'dict', doc: 'Minions and the functions of the mine they may read; all unless given.' },
  {
    name: 'nodegroups',
    type: ['dict', 'list'],
    default: {},
    doc: 'Named groups of minions, each a compound target.',
    reload: true,
  },
  { name: 'netapi_enable_clients', type: 'strs', default: [], doc: 'Clients the API may use; empty means none.' },
  { name: 'netapi_disable_clients', type: 'strs', since: '3006.0', doc: 'Clients the API may not use.' },
  {
    name: 'netapi_allow_raw_shell',
    type: 'bool',
    default: false,
    doc: 'Let API users run salt-ssh raw shell commands.',
  },
  { name: 'django_auth_path', type: 'path', default: '', doc: 'Folder of a Django project used for authentication.' },
  { name: 'django_auth_settings', type: 'str', default: '', doc: 'Settings module of that project.' },
] as const satisfies readonly OptionRow[];
