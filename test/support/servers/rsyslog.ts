// A real rsyslogd that listens on a private port and a private socket, and writes what it gets into a file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { listens } from './memcached.ts';
import { preparedProgram, type RunningServer, startServer } from './server.ts';

export interface SyslogServer extends RunningServer {
  /** The socket that stands for /dev/log. */
  readonly socket: string;
  /** `facility.severity tag message` of everything received. */
  lines(): string[];
}

/** Starts one; undefined when it is not there. */
export async function startRsyslog(): Promise<SyslogServer | undefined> {
  const program = preparedProgram('rsyslogd', 'rsyslog');
  if (!program) return undefined;
  const server = await startServer({
    name: 'rsyslog',
    prepare(folder, port) {
      const text = [
        `global(workDirectory="${folder}" maxMessageSize="2m")`,
        `module(load="imuxsock" SysSock.Use="off")`,
        `input(type="imuxsock" Socket="${folder}/log" RateLimit.Interval="0")`,
        `module(load="imudp")\ninput(type="imudp" address="127.0.0.1" port="${port}")`,
        `module(load="imtcp")\ninput(type="imtcp" address="127.0.0.1" port="${port}")`,
        'template(name="all" type="string" string="%syslogfacility-text%.%syslogseverity-text% %hostname% %syslogtag%%msg%\\n")',
        `*.* action(type="omfile" file="${folder}/all.log" template="all")`,
      ];
      writeFileSync(`${folder}/rsyslog.conf`, `${text.join('\n')}\n`);
    },
    command: (_port, folder) => [program, '-n', '-f', `${folder}/rsyslog.conf`, '-i', `${folder}/pid`],
    ready: listens,
  });
  const file = `${server.folder}/all.log`;
  const lines = (): string[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line)
      : [];
  return Object.assign(server, { socket: `${server.folder}/log`, lines });
}
