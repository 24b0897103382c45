// Option table of the master: master network.
import type { OptionRow } from '../row.ts';

export const masterNetwork = [
  { name: 'zmq_backlog', type: 'int', default: 1000, doc: 'Length of the queue of waiting connections.' },
  {
    name: 'pub_hwm',
    type: 'int',
    default: 1000,
    doc: 'Published jobs kept for a minion that does not read them; more are dropped.',
  },
  {
    name: 'tcp_master_pub_port',
    type: 'int',
    default: 4512,
    doc: 'Loopback port of the event publisher when sockets are TCP.',
  },
  {
    name: 'tcp_master_pull_port',
    type: 'int',
    default: 4513,
    doc: 'Loopback port for new events when sockets are TCP.',
  },
  {
    name: 'tcp_master_publish_pull',
    type: 'int',
    default: 4514,
    doc: 'Loopback port for new jobs when sockets are TCP.',
  },
  {
    name: 'tcp_master_workers',
    type: 'int',
    default: 4515,
    doc: 'Loopback port of the request workers when sockets are TCP.',
  },
  { name: 'transport_opts', type: 'dict', assumed: {}, doc: 'Several transports at once, with options for each.' },
  {
    name: 'ipc_write_timeout',
    type: 'duration',
    assumed: 15,
    since: '3006.11',
    doc: 'Seconds a local event subscriber may stop reading before it is dropped.',
  },
  { name: 'master_id', type: 'str', doc: 'Name sent with each job so that syndics return to the right master.' },
  {
    name: 'publish_session',
    type: 'duration',
    default: 86400,
    doc: 'Seconds between changes of the key that encrypts jobs.',
  },
  {
    name: 'publish_signing_algorithm',
    type: 'str',
    default: 'PKCS1v15-SHA1',
    doc: 'Algorithm that signs published jobs.',
  },
  {
    name: 'rotate_aes_key',
    type: ['bool', 'str'],
    default: true,
    doc: 'Change the job key whenever a minion key is deleted or rejected. Masters of a cluster gather such changes for a minute; with `now` they do not.',
  },
  {
    name: 'request_server_ttl',
    type: 'duration',
    default: 0,
    doc: 'Oldest request in seconds that is answered; 0 means any age.',
  },
  {
    name: 'request_server_aes_session',
    type: 'duration',
    default: 0,
    doc: 'Seconds a per-minion session key is used; 0 means the general key.',
  },
  {
    name: 'minimum_auth_version',
    type: 'int',
    default: 3,
    since: '3006.17',
    doc: 'Oldest authentication protocol a minion may use.',
  },
  {
    name: 'detect_remote_minions',
    type: 'bool',
    default: false,
    doc: 'Count a minion as present when a connection to `remote_minions_port` exists.',
  },
  { name: 'remote_minions_port', type: 'int', default: 22, doc: 'Port checked for `detect_remote_minions`.' },
] as const satisfies readonly OptionRow[];
