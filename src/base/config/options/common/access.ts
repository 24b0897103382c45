// Option table shared by master and minion: access control.
import type { OptionRow } from '../row.ts';

export const commonAccess = [
  { name: 'open_mode', type: 'bool', default: false, doc: 'Accept every key without checking; only for tests.' },
  {
    name: 'autosign_timeout',
    type: 'int',
    default: 120,
    since: '2014.7.0',
    doc: 'Minutes for which an entry of the autosign folder stays valid.',
  },
  {
    name: 'publisher_acl',
    type: 'dict',
    default: {},
    doc: 'System users and the functions they may run from the master.',
  },
  {
    name: 'publisher_acl_blacklist',
    type: 'dict',
    default: {},
    doc: 'Users and functions that are refused even if another rule allows them.',
    reload: true,
  },
] as const satisfies readonly OptionRow[];
