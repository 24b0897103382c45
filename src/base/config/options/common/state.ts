// Option table shared by master and minion: states and their output.
import type { OptionRow } from '../row.ts';

export const commonState = [
  { name: 'failhard', type: 'bool', default: false, doc: 'Stop a state run at the first failure.' },
  { name: 'state_verbose', type: 'bool', default: true, doc: 'Show states that changed nothing.' },
  {
    name: 'state_output',
    type: 'str',
    default: 'full',
    doc: 'Style of state results: full, terse, mixed, changes, filter, and their `_id` forms.',
  },
  {
    name: 'state_output_diff',
    type: 'bool',
    default: false,
    doc: 'Leave successful states without changes out of the output.',
  },
  { name: 'state_output_profile', type: 'bool', default: true, doc: 'Show start time and duration of each state.' },
  {
    name: 'state_output_pct',
    type: 'bool',
    assumed: false,
    doc: 'Show success and failure as percentages in the summary.',
  },
  {
    name: 'state_compress_ids',
    type: 'bool',
    assumed: false,
    doc: 'Fold states that share an id into one line of output.',
  },
  {
    name: 'state_auto_order',
    type: 'bool',
    default: true,
    doc: 'Run states in the order they are written when requisites leave a choice.',
  },
  { name: 'state_events', type: 'bool', default: false, doc: 'Fire an event for each state that finishes.' },
  {
    name: 'state_aggregate',
    type: ['bool', 'list'],
    default: false,
    doc: 'Combine similar states, such as package installs, into one: true, or a list of state modules.',
  },
  {
    name: 'state_max_parallel',
    type: 'int',
    default: 0,
    since: '3008.0',
    doc: 'Most states that may run in parallel; 0 means no limit.',
  },
  {
    name: 'master_tops_first',
    type: 'bool',
    default: false,
    since: '2018.3.0',
    doc: 'Put master tops before the top file instead of after it.',
  },
] as const satisfies readonly OptionRow[];
