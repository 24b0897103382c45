// Options both daemons have, with the defaults of the minion.
import type { OptionRow } from '../row.ts';

export const minionOwnDaemon = [
  { name: 'conf_file', type: 'path', default: '/etc/salt/minion', doc: 'The main configuration file that was read.' },
  {
    name: 'default_include',
    type: 'str',
    default: 'minion.d/*.conf',
    doc: 'Pattern of further files to read after the main file, relative to its folder.',
  },
  {
    name: 'pki_dir',
    type: 'path',
    default: '/etc/salt/pki/minion',
    doc: "Folder of this daemon's key pair and of the keys it has stored.",
  },
  {
    name: 'cachedir',
    type: 'path',
    default: '/var/cache/salt/minion',
    doc: 'Folder for everything that can be rebuilt: job data, fetched files, extension modules.',
  },
  {
    name: 'sock_dir',
    type: 'path',
    default: '/var/run/salt/minion',
    doc: 'Folder of the unix sockets other local programs connect to.',
  },
  {
    name: 'pidfile',
    type: 'path',
    default: '/var/run/salt-minion.pid',
    doc: 'File that holds the process id while the daemon runs.',
  },
  {
    name: 'extension_modules',
    type: 'path',
    default: '/var/cache/salt/minion/extmods',
    doc: 'Folder into which synced extension modules are written and from which they are loaded.',
  },
  {
    name: 'local',
    type: 'bool',
    default: false,
    doc: 'Set inside the program when it works without talking to a master.',
  },
  { name: 'enable_gpu_grains', type: 'bool', default: true, doc: 'Look for graphics cards when grains are collected.' },
] as const satisfies readonly OptionRow[];

export const minionOwnLog = [
  {
    name: 'log_file',
    type: ['path', 'null'],
    default: '/var/log/salt/minion',
    doc: 'File or syslog target (`file:///dev/log`, `udp://host:port`) that receives the log.',
  },
] as const satisfies readonly OptionRow[];

export const minionOwnNetwork = [
  { name: 'publish_port', type: 'int', doc: 'TCP port on which the master publishes jobs.' },
  { name: 'sign_pub_messages', type: 'bool', default: false, doc: "Sign every published job with the master's key." },
  {
    name: 'salt_cp_chunk_size',
    type: 'int',
    default: 65536,
    doc: 'Bytes per chunk when a file is sent with `salt-cp --chunked`.',
  },
] as const satisfies readonly OptionRow[];

export const minionOwnLoader = [
  { name: 'reactor', type: 'list', doc: 'Event tags and the reaction files to render when they arrive.' },
] as const satisfies readonly OptionRow[];

export const minionOwnFiles = [
  {
    name: 'file_client',
    type: 'str',
    default: 'remote',
    doc: "Where files come from: remote (the master) or local (this node's own roots).",
  },
  { name: 'file_buffer_size', type: 'int', default: 262144, doc: 'Bytes per chunk when a file is sent.' },
] as const satisfies readonly OptionRow[];

export const minionOwnPillar = [
  {
    name: 'pillarenv_from_saltenv',
    type: 'bool',
    default: false,
    since: '2017.7.0',
    doc: 'Use the environment of the states for the pillar too.',
  },
] as const satisfies readonly OptionRow[];

export const minionOwnAccess = [
  { name: 'auto_accept', type: 'bool', default: true, doc: 'Accept new minion keys without asking.' },
] as const satisfies readonly OptionRow[];
