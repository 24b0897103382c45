// Reads syslog targets such as `file:///dev/log/LOG_DAEMON` and `udp://host:514`.
import { HaliteError } from '../errors/index.ts';

export interface SyslogTarget {
  readonly kind: 'unix' | 'udp' | 'tcp';
  readonly path: string;
  readonly host: string;
  readonly port: number;
  readonly facility: number;
}

const facilities: Readonly<Record<string, number>> = {
  LOG_KERN: 0,
  LOG_USER: 1,
  LOG_MAIL: 2,
  LOG_DAEMON: 3,
  LOG_AUTH: 4,
  LOG_SYSLOG: 5,
  LOG_LPR: 6,
  LOG_NEWS: 7,
  LOG_UUCP: 8,
  LOG_CRON: 9,
  LOG_AUTHPRIV: 10,
  LOG_FTP: 11,
  LOG_NTP: 12,
  LOG_SECURITY: 13,
  LOG_CONSOLE: 14,
  LOG_SOLCRON: 15,
  LOG_LOCAL0: 16,
  LOG_LOCAL1: 17,
  LOG_LOCAL2: 18,
  LOG_LOCAL3: 19,
  LOG_LOCAL4: 20,
  LOG_LOCAL5: 21,
  LOG_LOCAL6: 22,
  LOG_LOCAL7: 23,
};

/** Whether a `log_file` names a syslog target instead of a file. */
export function isSyslogTarget(logFile: string): boolean {
  return /^(file|udp|tcp):\/\//.test(logFile);
}

function facilityNumber(name: string): number {
  if (Object.hasOwn(facilities, name)) return facilities[name] as number;
  throw new HaliteError('config.value', `The syslog facility '${name}' is not known`, {
    hint: `Use one of ${Object.keys(facilities).join(', ')} at the end of log_file.`,
  });
}

/** Salt: the last part of the path is the facility when it starts with LOG_; udp and tcp allow nothing else there. */
export function parseSyslogTarget(logFile: string): SyslogTarget {
  const [, scheme = '', authority = '', rawPath = ''] = /^(\w+):\/\/([^/]*)(\/.*)?$/.exec(logFile) ?? [];
  const path = rawPath.replace(/\/+$/, '');
  const last = path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/\.[^.]*$/, '')
    .toUpperCase();
  if (scheme === 'file') {
    const named = last.startsWith('LOG_');
    const socket = named ? path.slice(0, path.lastIndexOf('/')) : path;
    return { kind: 'unix', path: socket, host: '', port: 0, facility: facilityNumber(named ? last : 'LOG_USER') };
  }
  if (scheme !== 'udp' && scheme !== 'tcp') {
    throw new HaliteError('config.value', `log_file '${logFile}' is neither a file nor a syslog target`);
  }
  const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(authority) ?? [];
  return {
    kind: scheme,
    path: '',
    host: bracketed ?? name ?? 'localhost',
    port: Number(port ?? 514),
    facility: facilityNumber(last === '' ? 'LOG_USER' : last),
  };
}
