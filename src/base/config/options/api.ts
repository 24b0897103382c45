// Option table of the API: salt API.
import type { OptionRow } from './row.ts';

export const apiOptions = [
  { name: 'rest_timeout', type: 'duration', default: 300, doc: 'Seconds the API waits for a result.' },
  { name: 'api_pidfile', type: 'path', default: '/var/run/salt-api.pid', doc: 'Process id file of the API.' },
  { name: 'api_logfile', type: 'path', default: '/var/log/salt/api', doc: 'Log file of the API.' },
] as const satisfies readonly OptionRow[];
