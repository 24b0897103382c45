// Sends lines to syslog: UDP, TCP, or the local socket.
import type { ChildProcess } from 'node:child_process';
import type { Socket as UdpSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import type { LogMethod } from './levels.ts';
import type { Sink } from './sink.ts';
import type { SyslogTarget } from './syslog-target.ts';

const severities: Readonly<Record<LogMethod, number>> = {
  critical: 2,
  error: 3,
  warn: 4,
  info: 6,
  profile: 7,
  debug: 7,
  trace: 7,
  garbage: 7,
};
const maxWaiting = 10_000;
const retryMs = 1000;

/** A line ready for syslog: `<priority>text`. */
function syslogLine(target: SyslogTarget, line: string, method: LogMethod): string {
  return `<${target.facility * 8 + severities[method]}>${line}`;
}

interface Pipe {
  send(text: string, done: () => void): void;
  close(): void;
}

/** Broken connections are reopened at most once a second; meanwhile lines are queued, up to a limit. */
export function syslogSink(target: SyslogTarget, failed: (error: Error) => void): Sink {
  const waiting: string[] = [];
  let pipe: Pipe | undefined;
  let opening = false;
  let open = 0;
  let told = false;
  let idle: (() => void)[] = [];
  let closed = false;

  const settle = (): void => {
    if (open > 0 || waiting.length > 0) return;
    const done = idle;
    idle = [];
    for (const resolve of done) resolve();
  };
  const drain = (): void => {
    while (pipe && waiting.length > 0) {
      open++;
      pipe.send(waiting.shift() as string, () => {
        open--;
        settle();
      });
    }
    settle();
  };
  const lost = (error: Error): void => {
    if (!told) failed(error);
    told = true;
    pipe = undefined;
    opening = false;
    open = 0;
    if (!closed) setTimeout(connect, retryMs).unref();
  };
  const connect = (): void => {
    if (pipe || opening || closed || waiting.length === 0) return;
    opening = true;
    const ready = (made: Pipe): void => {
      pipe = made;
      opening = false;
      told = false;
      drain();
    };
    void openPipe(target, ready, lost).catch(lost);
  };
  return {
    write: (line, method) => {
      if (waiting.length < maxWaiting) waiting.push(syslogLine(target, line, method));
      if (pipe) drain();
      else connect();
    },
    flush: () =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, 2000);
        idle.push(() => {
          clearTimeout(timer);
          resolve();
        });
        settle();
      }),
    flushSync: () => {},
    reopen: () => {},
    async close() {
      await this.flush();
      closed = true;
      pipe?.close();
      pipe = undefined;
    },
  };
}

async function openPipe(target: SyslogTarget, ready: (pipe: Pipe) => void, lost: (e: Error) => void): Promise<void> {
  if (target.kind === 'udp') return openUdp(target, ready, lost);
  const { connect } = await import('node:net');
  const socket = target.kind === 'tcp' ? connect(target.port, target.host) : connect(target.path);
  let up = false;
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // The local socket is usually a datagram socket, which Node cannot open but the `logger` program can.
    if (!up && target.kind === 'unix' && error.code === 'EPROTOTYPE') void openLogger(target, ready, lost).catch(lost);
    else if (!up) lost(error);
  });
  socket.on('connect', () => {
    up = true;
    socket.unref();
    socket.on('close', () => lost(new Error('the connection to syslog was closed')));
    ready(streamPipe(socket));
  });
}

function streamPipe(socket: Socket): Pipe {
  return {
    send: (text, done) => void socket.write(`${text.replaceAll('\n', ' ')}\n`, () => done()),
    close: () => {
      socket.removeAllListeners('close');
      socket.end();
    },
  };
}

async function openUdp(target: SyslogTarget, ready: (pipe: Pipe) => void, lost: (e: Error) => void): Promise<void> {
  const { createSocket } = await import('node:dgram');
  const { lookup } = await import('node:dns/promises');
  const { address, family } = await lookup(target.host);
  const socket: UdpSocket = createSocket(family === 6 ? 'udp6' : 'udp4');
  socket.unref();
  socket.on('error', lost);
  // Python's handler ends datagrams with a zero byte, which syslog daemons expect.
  ready({
    send: (text, done) => socket.send(`${text}\0`, target.port, address, () => done()),
    close: () => socket.close(),
  });
}

async function openLogger(target: SyslogTarget, ready: (pipe: Pipe) => void, lost: (e: Error) => void): Promise<void> {
  const { spawn } = await import('node:child_process');
  const child: ChildProcess = spawn('logger', ['--prio-prefix', '-t', 'salt', '-u', target.path], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', lost);
  child.on('exit', () => lost(new Error('the logger program ended')));
  child.stdin?.on('error', () => {});
  child.on('spawn', () => {
    child.unref();
    ready({
      send: (text, done) => void child.stdin?.write(`${text.replaceAll('\n', ' ')}\n`, () => done()),
      close: () => {
        child.removeAllListeners('exit');
        child.stdin?.end();
      },
    });
  });
}
