// Option table of what Halite adds to Salt.
import type { OptionRow } from './row.ts';

export const haliteMaster = [
  {
    name: 'api_user',
    type: 'str',
    default: '',
    since: 'Halite 0.1',
    doc: 'User that salt-api runs as; the user of the master when empty. It needs no rights: every call is authorized by the master.',
  },
  {
    name: 'keep_jobs_mb',
    type: 'int',
    default: 4096,
    since: 'Halite 0.1',
    doc: 'Size in MB above which the oldest jobs are removed from the built-in job store; 0 means no limit.',
  },
  {
    name: 'store_sync',
    type: 'str',
    default: 'normal',
    since: 'Halite 0.1',
    doc: 'When a result counts as stored in the built-in job store: `normal` survives a killed process, and a power failure but for the last moments; `full` waits for the disk, which costs a flush for each batch of results.',
  },
  {
    name: 'keep_events',
    type: 'int',
    default: 10_000,
    since: 'Halite 0.1',
    doc: 'How many events the built-in job store keeps (view `salt_events`); 0 keeps none.',
  },
  {
    name: 'spool_mb',
    type: 'int',
    default: 1024,
    since: 'Halite 0.1',
    doc: 'Size in MB that each spool may reach while its returner is unavailable; after that, new records are kept only in the built-in job store.',
  },
  {
    name: 'max_pending_keys',
    type: 'int',
    default: 20_000,
    since: 'Halite 0.1',
    doc: 'Maximum number of keys that wait for acceptance; further new minions are asked to try again later and are not stored. 0 means no limit.',
  },
  {
    name: 'return_via_master',
    type: ['bool', 'list'],
    default: true,
    since: 'Halite 0.1',
    doc: 'Results of minions with `return_via_master` are handed to the returners they name: all, none, or those in the list.',
  },
  {
    name: 'salt_library_sockets',
    type: 'bool',
    default: true,
    since: 'Halite 0.1',
    doc: "The sockets and job files with which programs that use Salt's Python library work with this master.",
  },
  {
    name: 'event_socket_framing',
    type: 'str',
    default: 'auto',
    since: 'Halite 0.1',
    doc: "How events are separated on the socket for Salt's Python library: `length` for 3006.26 and later 3006 releases, `stream` for all others, `auto` for what the installed release needs.",
  },
  {
    name: 'lower_masters',
    type: 'strs',
    default: ['*'],
    since: 'Halite 0.1',
    doc: 'Globs of the ids that may be syndics of lower masters, where `order_masters` is on.',
  },
] as const satisfies readonly OptionRow[];

export const haliteLog = [
  {
    name: 'log_format',
    type: 'str',
    default: 'text',
    since: 'Halite 0.1',
    doc: 'How log lines are written, on the console and to the log file: `text` with the layouts above, or `json`, one object per line.',
  },
] as const satisfies readonly OptionRow[];

/** Users' Python, on masters and minions. */
export const halitePython = [
  {
    name: 'python_executable',
    type: 'str',
    default: '',
    since: 'Halite 0.1',
    doc: "The Python that runs users' extensions, also of a virtual environment; empty: the first of the usual places that is 3.6 or newer.",
  },
  {
    name: 'python_extensions',
    type: 'bool',
    default: true,
    since: 'Halite 0.1',
    doc: "Run users' extensions and SLS files in Python; False: refuse them by name.",
  },
  {
    name: 'python_load_timeout',
    type: 'duration',
    default: 30,
    since: 'Halite 0.1',
    doc: 'Seconds that the import of a Python file may take.',
  },
  {
    name: 'python_max_message',
    type: 'int',
    default: 268435456,
    since: 'Halite 0.1',
    doc: 'Largest value, in bytes, that is passed between Halite and Python.',
  },
] as const satisfies readonly OptionRow[];

export const haliteCluster = [
  {
    name: 'cluster',
    type: ['null', 'dict'],
    default: null,
    since: 'Halite 0.1',
    doc: 'Makes several Halite masters work as one. Keys: `name` and `servers` (nats-servers, `tls://host:4222`; with TLS by the name that is in their certificates); `creds` or `nkey`, `ca`, `cert`, `key` (files); `insecure`, `ack` (both, quorum or own), `ack_wait`, `replicas`, `log_mb`, `serve` (watch), `nats` (external or managed), and for a managed server `listen`, `routes_listen`, `peers`.',
  },
  {
    name: 'pillar_cache_shared',
    type: 'bool',
    default: true,
    since: 'Halite 0.1',
    doc: 'In a cluster of masters: whether a member tells the others the pillars that it keeps for targeting, sealed like everything between them. When false, pillar targets see only the minions that asked this member for their pillar.',
  },
] as const satisfies readonly OptionRow[];

export const haliteMinion = [
  {
    name: 'minimum_master_version',
    type: 'int',
    default: 3,
    since: 'Halite 0.1',
    doc: 'Oldest authentication protocol the master may speak; 2 admits masters before 3006.12 and 3007.4.',
  },
  {
    name: 'return_via_master',
    type: 'bool',
    default: false,
    since: 'Halite 0.1',
    doc: 'The master hands results to returners on behalf of this minion, which needs no driver and no password.',
  },
] as const satisfies readonly OptionRow[];
