// Option table of the master: process priorities.
import type { OptionRow } from '../row.ts';

export const masterPriority = [
  {
    name: 'event_return_niceness',
    type: ['null', 'int'],
    default: null,
    since: '3001',
    doc: 'Nice value of the process that stores events.',
  },
  {
    name: 'event_publisher_niceness',
    type: ['null', 'int'],
    default: null,
    since: '3001',
    doc: 'Nice value of the event publisher.',
  },
  {
    name: 'fileserver_update_niceness',
    type: ['null', 'int'],
    default: null,
    since: '3001',
    doc: 'Nice value of file server updates.',
  },
  {
    name: 'maintenance_niceness',
    type: ['null', 'int'],
    default: null,
    since: '3001',
    doc: 'Nice value of the housekeeping process.',
  },
  {
    name: 'mworker_niceness',
    type: ['null', 'int'],
    default: null,
    since: '3001',
    doc: 'Nice value of the request workers.',
  },
  {
    name: 'mworker_queue_niceness',
    type: ['null', 'int'],
    default: null,
    since: '3001',
    doc: 'Nice value of the request queue.',
  },
  {
    name: 'req_server_niceness',
    type: ['null', 'int'],
    default: null,
    since: '3001',
    doc: 'Nice value of the request server.',
  },
  {
    name: 'pub_server_niceness',
    type: ['null', 'int'],
    default: null,
    since: '3001',
    doc: 'Nice value of the job publisher.',
  },
] as const satisfies readonly OptionRow[];
