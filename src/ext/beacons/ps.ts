// Beacon `ps`: processes that run or do not run.
import { defineBeacon, isDict, newDict, type PlainDict, type Value } from 'halite/sdk';
import { processIds, processName } from '../shared/ps/processes.ts';
import { entriesOf } from './shared/settings.ts';

/** The event for one process: its state is the configured one, or false when it should run and does not. */
function told(wanted: Value, runs: boolean): Value | undefined {
  if (wanted === 'running') return runs ? 'Running' : undefined;
  if (wanted === 'stopped') return runs ? undefined : 'Stopped';
  return runs ? undefined : false;
}

function read(settings: PlainDict): PlainDict[] {
  const names = new Set(processIds().map((pid) => processName(pid)));
  return entriesOf(settings['processes']).flatMap(([name, wanted]) => {
    const state = told(wanted, names.has(name));
    return state === undefined ? [] : [newDict([[name, state]])];
  });
}

export default defineBeacon({
  name: 'ps',
  doc: 'Sends an event when a process is in the configured state: `running` or `stopped`.',
  examples: ['ps:\n  - processes:\n      salt-master: running\n      mysql: stopped'],
  validate({ processes }) {
    if (processes === undefined) return 'Configuration for ps beacon requires processes.';
    return isDict(processes) ? undefined : 'Processes for ps beacon must be a dictionary.';
  },
  open: (settings) => ({ read: () => read(settings) }),
});
