// Beacon `haproxy`: servers of a backend with more sessions than the limit.
import { connect } from 'node:net';
import { asList, defineBeacon, fieldOf, isDict, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { entriesOf, percentOf } from './shared/settings.ts';

const usualSocket = '/var/run/haproxy.sock';
const longestMs = 5000;
const mostBytes = 16 << 20;

/** HAProxy's answer to a command on its socket. */
function ask(socketPath: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const socket = connect(socketPath, () => socket.end(`${command}\n`));
    socket.setTimeout(longestMs, () => socket.destroy(new Error(`${socketPath} does not answer`)));
    socket.on('data', (piece) => {
      pieces.push(piece);
      length += piece.length;
      if (length > mostBytes) socket.destroy(new Error(`${socketPath} answers too much`));
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(pieces).toString('utf8')));
  });
}

/** Current sessions by backend and server, from the CSV of `show stat`. */
export function sessionsOf(stats: string): Map<string, number> {
  const [header = '', ...rows] = stats.split('\n');
  const columns = header.replace(/^#\s*/, '').split(',');
  const [backend, server, sessions] = ['pxname', 'svname', 'scur'].map((name) => columns.indexOf(name));
  const found = new Map<string, number>();
  for (const row of rows) {
    const fields = row.split(',');
    const count = Number(fields[sessions ?? -1]);
    if (fields.length > 1 && Number.isFinite(count)) found.set(`${fields[backend ?? 0]}/${fields[server ?? 1]}`, count);
  }
  return found;
}

function validate({ backends }: PlainDict): string | undefined {
  if (backends === undefined) return 'Configuration for haproxy beacon requires backends.';
  if (!isDict(backends)) return 'Backends for haproxy beacon must be a dictionary.';
  for (const [name, settings] of entriesOf(backends)) {
    const servers = fieldOf(settings, 'servers');
    if (servers === undefined) return 'Backends for haproxy beacon require servers.';
    if (!Array.isArray(servers)) return 'Servers for haproxy beacon must be a list.';
    if (percentOf(fieldOf(settings, 'threshold')) === undefined)
      return `Configuration for haproxy beacon: threshold of ${name} must be a number.`;
  }
  return undefined;
}

async function read(settings: PlainDict): Promise<PlainDict[]> {
  const sessions = sessionsOf(await ask(pyStr(settings['socket'] ?? usualSocket), 'show stat'));
  return entriesOf(settings['backends']).flatMap(([backend, of]) => {
    const threshold = fieldOf(of, 'threshold') as Value;
    const limit = Math.trunc(percentOf(threshold) ?? 0);
    const servers = fieldOf(of, 'servers');
    return (asList(servers) ?? []).flatMap((server) => {
      const scur = sessions.get(`${backend}/${pyStr(server)}`) ?? 0;
      return scur > limit ? [newDict(Object.entries({ server, scur: String(scur), threshold }))] : [];
    });
  });
}

export default defineBeacon({
  name: 'haproxy',
  doc: 'Sends an event when a server of a backend has more sessions than its threshold; queries the `socket` of HAProxy.',
  examples: [
    'haproxy:\n  - backends:\n      www-backend:\n        threshold: 45\n        servers: [web1, web2]\n  - interval: 120',
  ],
  validate,
  open: (settings) => ({ read: () => read(settings) }),
});
