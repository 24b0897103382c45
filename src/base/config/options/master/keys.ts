// Option table of the master: keys of master and minions.
import type { OptionRow } from '../row.ts';

export const masterKeys = [
  {
    name: 'allow_minion_key_revoke',
    type: 'bool',
    default: true,
    doc: 'Let a minion ask for the removal of its own key.',
  },
  { name: 'autosign_file', type: 'path', doc: 'File with ids or patterns of keys to accept.', reload: true },
  {
    name: 'autoreject_file',
    type: 'path',
    since: '2014.1.0',
    doc: 'File with ids or patterns of keys to reject.',
    reload: true,
  },
  {
    name: 'autosign_grains_dir',
    type: 'path',
    since: '2018.3.0',
    doc: 'Folder with grain values that make a key acceptable.',
  },
  {
    name: 'auth_events',
    type: 'bool',
    default: true,
    since: '2017.7.3',
    doc: 'Fire events for authentication attempts.',
  },
  {
    name: 'auth_events_autosign_grains',
    type: 'strs',
    assumed: [],
    since: '3008.0',
    doc: 'Outcomes whose authentication events carry the autosign grains.',
  },
  {
    name: 'auth_events_pend_autosign_grains',
    type: 'bool',
    default: false,
    since: '3008.0',
    doc: 'Put the autosign grains into events of keys that wait.',
  },
  { name: 'auth_mode', type: 'int', default: 1, doc: 'Strictness of authentication; kept for compatibility.' },
  {
    name: 'key_cache',
    type: 'str',
    default: '',
    doc: 'Keep a list of accepted keys: `sched` renews it regularly, empty turns it off.',
  },
  { name: 'key_logfile', type: 'path', default: '/var/log/salt/key', doc: 'Log file of `salt-key`.' },
  { name: 'key_pass', type: ['null', 'str'], default: null, doc: "Passphrase of the master's private key." },
  {
    name: 'signing_key_pass',
    type: ['null', 'str'],
    default: null,
    doc: "Passphrase of the key that signs the master's public key.",
  },
  {
    name: 'master_sign_pubkey',
    type: ['bool', 'str'],
    default: false,
    doc: "Sign the master's public key in authentication answers. A minion without `verify_master_pubkey_sign` refuses a signed key, and one with it refuses an unsigned one: with `auto`, those get it that demand it (Halite minions say so, others were prepared by `master.rotate_keys prepare=True`).",
  },
  {
    name: 'master_pubkey_signature',
    type: 'str',
    default: 'master_pubkey_signature',
    doc: "File with a ready-made signature of the master's public key.",
  },
  {
    name: 'master_use_pubkey_signature',
    type: 'bool',
    default: false,
    doc: 'Send the ready-made signature instead of computing one.',
  },
  {
    name: 'drop_messages_signature_fail',
    type: 'bool',
    default: false,
    doc: 'Drop messages of minions whose signature does not verify.',
  },
  {
    name: 'require_minion_sign_messages',
    type: 'bool',
    default: false,
    doc: 'Accept only signed messages of minions.',
  },
] as const satisfies readonly OptionRow[];
