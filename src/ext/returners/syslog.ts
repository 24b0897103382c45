// Returner `syslog`: results as JSON lines in the system's log, or in that of another machine.
import { defineReturner, HaliteError, messageOf, p, pyStr, type ReturnerContext, type Value } from 'halite/sdk';
import { hostPort } from '../shared/http/request.ts';
import { toJson } from './shared/loads.ts';
import { sendBytes, sendPacket } from './shared/socket.ts';

const levels = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];
const facilities = [
  ...['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'authpriv', 'ftp'],
  ...['', '', '', '', 'local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7'],
];
/** Aliases that operators use. */
const others: Readonly<Record<string, string>> = { warn: 'warning', error: 'err', critical: 'crit', security: 'auth' };
const knownOptions = ['LOG_PID', 'LOG_CONS', 'LOG_NDELAY', 'LOG_ODELAY', 'LOG_NOWAIT', 'LOG_PERROR'];
const maxTag = 32;
const maxBytes = 1024 * 1024;

/** The number of `LOG_INFO` and so on. */
function numberFor(kind: string, names: readonly string[], given: string): number {
  const word = given.toLowerCase().replace(/^log_/, '');
  const index = word === '' ? -1 : names.indexOf(others[word] ?? word);
  if (index < 0) throw new HaliteError('config.value', `syslog has no ${kind} ${given}`);
  return index;
}

interface Form {
  readonly level: number;
  readonly facility: number;
  readonly tag: string;
  readonly pid: boolean;
}

function formOf(given: { level: string; facility: string; tag: string; options: readonly Value[] }): Form {
  const flags = given.options.map((item) => pyStr(item).toUpperCase());
  const unknown = flags.find((flag) => !knownOptions.includes(flag));
  if (unknown !== undefined) throw new HaliteError('config.value', `syslog has no option ${unknown}`);
  if (given.tag.length > maxTag) {
    throw new HaliteError('config.value', `syslog.tag is limited to ${maxTag} characters`);
  }
  return {
    level: numberFor('level', levels, given.level),
    facility: numberFor('facility', facilities, given.facility),
    tag: given.tag,
    pid: flags.includes('LOG_PID'),
  };
}

/** The frame of RFC 3164, which every receiver reads. */
export function frame(form: Form, host: string, text: string, now = new Date()): string {
  const [, month = '', day = '', , clock = ''] = now.toString().split(' ');
  const stamp = `${month} ${String(Number(day)).padStart(2, ' ')} ${clock}`;
  const tag = `${form.tag}${form.pid ? `[${process.pid}]` : ''}`;
  return `<${form.facility * 8 + form.level}>${stamp} ${host} ${tag}: ${text}`;
}

async function toLocal(form: Form, socket: string | null, text: string, ctx: ReturnerContext): Promise<void> {
  const args = ['-p', `${facilities[form.facility]}.${levels[form.level]}`, '-t', form.tag, '--size', String(maxBytes)];
  if (form.pid) args.push(`--id=${process.pid}`);
  if (socket !== null) args.push('-u', socket, '--socket-errors=on');
  // On standard input: a result may be longer than a command line.
  const done = await ctx.exec('logger', args, { input: `${text}\n`, timeoutMs: 20_000 });
  if (done.retcode === 0) return;
  throw new HaliteError(
    'store.unavailable',
    `syslog took nothing: ${(done.stderr || done.stdout).trim().slice(0, 200)}`,
  );
}

export default defineReturner({
  name: 'syslog',
  doc: 'Writes every result as one line of JSON into the log of the system, or over the network when `host` is given.',
  options: {
    level: p.string({ default: 'LOG_INFO', doc: 'The severity: `LOG_DEBUG` to `LOG_EMERG`.' }),
    facility: p.string({ default: 'LOG_USER', doc: 'The facility: `LOG_DAEMON`, `LOG_LOCAL0`, …' }),
    tag: p.string({ default: 'salt-minion', doc: 'The name in front of every line, at most 32 characters.' }),
    options: p.list({
      default: [],
      doc: '`LOG_PID` adds the process id; other options are accepted and have no effect.',
    }),
    host: p.string({ default: null, doc: 'Another machine that receives the lines.' }),
    port: p.int({ default: 514, doc: 'Its port.' }),
    protocol: p.string({ default: 'udp', doc: '`udp`, or `tcp` for results larger than a packet.' }),
    socket: p.path({ default: null, doc: "The socket of the system's log, when it is not /dev/log." }),
  },
  open(given, ctx) {
    const form = formOf(given);
    const { host, port, protocol, socket } = given;
    if (host === null) return { save: (ret) => toLocal(form, socket, toJson(ret), ctx) };
    const send = protocol.toLowerCase() === 'tcp' ? sendBytes : sendPacket;
    return {
      async save(ret) {
        const text = frame(form, ctx.id, toJson(ret));
        const end = send === sendBytes ? '\n' : '';
        await send({ host, port, signal: ctx.signal }, Buffer.from(text + end)).catch((error: unknown) => {
          const large = (error as NodeJS.ErrnoException).code === 'EMSGSIZE';
          const why = large ? 'the result does not fit into a packet: use syslog.protocol: tcp' : messageOf(error);
          throw new HaliteError('store.unavailable', `syslog at ${hostPort(host, port)} cannot be reached: ${why}`);
        });
      },
    };
  },
});
