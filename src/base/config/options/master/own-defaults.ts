// Options both daemons have, with the defaults of the master.
import type { OptionRow } from '../row.ts';

export const masterOwnDaemon = [
  { name: 'conf_file', type: 'path', default: '/etc/salt/master', doc: 'The main configuration file that was read.' },
  {
    name: 'default_include',
    type: 'str',
    default: 'master.d/*.conf',
    doc: 'Pattern of further files to read after the main file, relative to its folder.',
  },
  {
    name: 'pki_dir',
    type: 'path',
    default: '/etc/salt/pki/master',
    doc: "Folder of this daemon's key pair and of the keys it has stored.",
  },
  {
    name: 'cachedir',
    type: 'path',
    default: '/var/cache/salt/master',
    doc: 'Folder for everything that can be rebuilt: job data, fetched files, extension modules.',
  },
  {
    name: 'sock_dir',
    type: 'path',
    default: '/var/run/salt/master',
    doc: 'Folder of the unix sockets other local programs connect to.',
  },
  {
    name: 'pidfile',
    type: 'path',
    default: '/var/run/salt-master.pid',
    doc: 'File that holds the process id while the daemon runs.',
  },
  {
    name: 'extension_modules',
    type: 'path',
    default: '/var/cache/salt/master/extmods',
    doc: 'Folder into which synced extension modules are written and from which they are loaded.',
  },
  {
    name: 'local',
    type: 'bool',
    default: true,
    doc: 'Set inside the program when it works without talking to a master.',
  },
  {
    name: 'enable_gpu_grains',
    type: 'bool',
    default: false,
    doc: 'Look for graphics cards when grains are collected.',
  },
] as const satisfies readonly OptionRow[];

export const masterOwnLog = [
  {
    name: 'log_file',
    type: ['path', 'null'],
    default: '/var/log/salt/master',
    doc: 'File or syslog target (`file:///dev/log`, `udp://host:port`) that receives the log.',
  },
] as const satisfies readonly OptionRow[];

export const masterOwnNetwork = [
  { name: 'publish_port', type: 'int', default: 4505, doc: 'TCP port on which the master publishes jobs.' },
  { name: 'sign_pub_messages', type: 'bool', default: true, doc: "Sign every published job with the master's key." },
  {
    name: 'salt_cp_chunk_size',
    type: 'int',
    default: 98304,
    doc: 'Bytes per chunk when a file is sent with `salt-cp --chunked`.',
  },
] as const satisfies readonly OptionRow[];

export const masterOwnLoader = [
  { name: 'reactor', type: 'list', default: [], doc: 'Event tags and the reaction files to render when they arrive.' },
] as const satisfies readonly OptionRow[];

export const masterOwnFiles = [
  {
    name: 'file_client',
    type: 'str',
    default: 'local',
    doc: "Where files come from: remote (the master) or local (this node's own roots).",
  },
  { name: 'file_buffer_size', type: 'int', default: 1048576, doc: 'Bytes per chunk when a file is sent.' },
] as const satisfies readonly OptionRow[];

export const masterOwnPillar = [
  {
    name: 'pillarenv_from_saltenv',
    type: 'bool',
    since: '2017.7.0',
    doc: 'Use the environment of the states for the pillar too.',
  },
] as const satisfies readonly OptionRow[];

export const masterOwnAccess = [
  { name: 'auto_accept', type: 'bool', default: false, doc: 'Accept new minion keys without asking.', reload: true },
] as const satisfies readonly OptionRow[];
