// Execution module `postfix`: settings and queue of a mail server.

import { defineModule, fn, type ModuleContext, newDict, type PlainDict, p, pyStr } from 'halite/sdk';
import { readFileSync, writeFileSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { command } from './shared/command.ts';

const mainFile = p.path({ default: '/etc/postfix/main.cf', doc: 'the file' });
const masterFile = p.path({ default: '/etc/postfix/master.cf', doc: 'the file' });

/** Logical lines: one that begins with white space continues the one before. */
export function mainLines(text: string): string[] {
  const found: string[] = [];
  for (const line of lines(text)) {
    if (line.trim() !== '' && /^\s/.test(line) && found.length > 0) found.push(`${found.pop()}\n${line}`);
    else found.push(line);
  }
  return found;
}

export function mainPairs(all: readonly string[]): PlainDict {
  const pairs = newDict();
  for (const line of all) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const at = line.indexOf('=');
    pairs[(at < 0 ? line : line.slice(0, at)).trim()] = at < 0 ? '' : line.slice(at + 1).trim();
  }
  return pairs;
}

const write = (path: string, all: readonly string[]): void =>
  writeFileSync(path, all.map((line) => `${line}\n`).join(''));

const columns = ['service', 'conn_type', 'private', 'unpriv', 'chroot', 'wakeup', 'maxproc'] as const;
type Service = Record<(typeof columns)[number] | 'command', string>;

function service(line: string): Service | undefined {
  if (line.trim() === '' || line.trim().startsWith('#')) return undefined;
  const parts = words(line);
  const named = Object.fromEntries(columns.map((name, index) => [name, parts[index] ?? '']));
  return { ...named, command: parts.slice(columns.length).join(' ') } as Service;
}

/** Default values are written as a dash. */
function serviceLine(given: Service): string {
  const usual: Partial<Service> = { private: 'y', unpriv: 'y', chroot: 'y', wakeup: 'n', maxproc: '100' };
  const cells = columns.map((name, index) => {
    const cell = given[name] === usual[name] ? '-' : given[name];
    return cell.padEnd([9, 5][index] ?? 7);
  });
  return `${cells.join(' ')} ${given.command}`;
}

async function queue(ctx: ModuleContext): Promise<PlainDict[]> {
  const found: PlainDict[] = [];
  const { stdout } = await command(ctx, ['mailq']);
  let head: RegExpExecArray | null = null;
  let recipient = '';
  for (const line of lines(stdout)) {
    // As in Salt: this is a character class, although it looks like words.
    if (/^[-|postqueue:|Mail]/.test(line)) continue;
    const first = /^([A-Z0-9]+)\s+(\d+)\s(\w{3}\s\w{3}\s\d{1,2}\s\d{2}:\d{2}:\d{2})\s+(.+)/.exec(line);
    if (first) head = first;
    else if (/^\s+.+/.test(line)) recipient = line.trimStart();
    else if (line === '' && head && recipient) {
      const [, queue_id = '', size = '', timestamp = '', sender = ''] = head;
      found.push(newDict(Object.entries({ queue_id, size, timestamp, sender, recipient })));
    }
  }
  return found;
}

interface Wording {
  readonly option: string;
  readonly all: string;
  readonly one: string;
  readonly notAll: string;
  readonly notOne: string;
}

/** A function that acts on one message of the queue, or on all of them. */
const onMessage = (name: string, doc: string, wording: Wording) =>
  fn({
    doc,
    examples: [`salt '*' postfix.${name} 5C33CA0DEA`, `salt '*' postfix.${name} ALL`],
    params: { queue_id: p.string({ doc: 'the message, or ALL' }) },
    async run({ queue_id }, ctx) {
      const all = queue_id === 'ALL';
      const say = (message: string, result: boolean) => newDict(Object.entries({ message, result }));
      if (!all && !(await queue(ctx)).some((item) => item['queue_id'] === queue_id))
        return say(`No message in queue with ID ${queue_id}`, false);
      const done = await command(ctx, ['postsuper', wording.option, queue_id]);
      if (done.retcode === 0) return say(all ? wording.all : `${wording.one} ${queue_id}`, true);
      return say(all ? wording.notAll : `${wording.notOne} ${queue_id}: ${done.stderr}`, true);
    },
  });

const settings = {
  show_main: fn({
    doc: 'Settings of main.cf.',
    examples: ["salt '*' postfix.show_main"],
    params: { path: mainFile },
    run: ({ path }) => mainPairs(mainLines(readFileSync(path, 'utf8'))),
  }),
  set_main: fn({
    doc: 'Sets one setting of main.cf; returns the new lines of the file.',
    examples: ["salt '*' postfix.set_main mailbox_size_limit 0"],
    params: { key: p.string({ doc: 'the setting' }), value: p.string({ doc: 'its value' }), path: mainFile },
    run({ key, value, path }) {
      const before = mainLines(readFileSync(path, 'utf8'));
      const line = `${key} = ${value}`;
      const isKey = (text: string): boolean => text.startsWith(key) && /^([\s=]|$)/.test(text.slice(key.length));
      const after = key in mainPairs(before) ? before.map((old) => (isKey(old) ? line : old)) : [...before, line];
      write(path, after);
      return after;
    },
  }),
  show_master: fn({
    doc: 'Services of master.cf.',
    examples: ["salt '*' postfix.show_master"],
    params: { path: masterFile },
    run: ({ path }) =>
      newDict(
        lines(readFileSync(path, 'utf8'))
          .flatMap((line) => service(line) ?? [])
          .map((one) => [`${one.service} ${one.conn_type}`, newDict(Object.entries(one))]),
      ),
  }),
  set_master: fn({
    doc: 'Sets one service of master.cf; returns the new text of the file.',
    examples: ["salt '*' postfix.set_master smtp inet n n n - - smtpd"],
    params: {
      service: p.string({ doc: 'the service' }),
      conn_type: p.string({ doc: 'inet, unix, fifo or pass' }),
      private: p.string({ default: 'y', doc: 'only for the mail system' }),
      unpriv: p.string({ default: 'y', doc: 'without root rights' }),
      chroot: p.string({ default: 'y', doc: 'in a chroot' }),
      wakeup: p.string({ default: 'n', doc: 'seconds between wake-ups' }),
      maxproc: p.string({ default: '100', doc: 'maximum number of processes' }),
      command: p.string({ default: '', doc: 'what to run' }),
      write_conf: p.bool({ default: true, doc: 'write the file' }),
      path: masterFile,
    },
    run({ write_conf, path, ...given }) {
      const wanted: Service = { ...given, maxproc: pyStr(given.maxproc) };
      let there = false;
      const after = lines(readFileSync(path, 'utf8')).map((line) => {
        const old = service(line);
        if (!old) return line;
        const same = old.service === wanted.service && old.conn_type === wanted.conn_type;
        there ||= same;
        return serviceLine(same ? wanted : old);
      });
      if (!there) after.push(serviceLine(wanted));
      if (write_conf) write(path, after);
      return after.join('\n');
    },
  }),
};

export default defineModule({
  name: 'postfix',
  doc: 'Settings and queue of a mail server.',
  available: () => which('postfix') !== null || 'postfix execution module not loaded: postfix not installed.',
  reads: ['show_main', 'show_master', 'show_queue'],
  functions: {
    ...settings,
    show_queue: fn({
      doc: 'The mail queue.',
      examples: ["salt '*' postfix.show_queue"],
      run: (_, ctx) => queue(ctx),
    }),
    delete: onMessage('delete', 'Removes a message from the queue.', {
      option: '-d',
      all: 'Successfully removed all messages',
      one: 'Successfully removed message with queue id',
      notAll: 'Unable to removed all messages',
      notOne: 'Unable to remove message with queue id',
    }),
    hold: onMessage('hold', 'Keeps a message back.', {
      option: '-h',
      all: 'Successfully placed all messages on hold',
      one: 'Successfully placed message on hold with queue id',
      notAll: 'Unable to place all messages on hold',
      notOne: 'Unable to place message on hold with queue id',
    }),
    unhold: onMessage('unhold', 'Releases a message that was kept back.', {
      option: '-H',
      all: 'Successfully set all message as unheld',
      one: 'Successfully set message as unheld with queue id',
      notAll: 'Unable to set all message as unheld.',
      notOne: 'Unable to set message as unheld with queue id',
    }),
    requeue: onMessage('requeue', 'Puts a message into the queue anew.', {
      option: '-r',
      all: 'Successfully requeued all messages',
      one: 'Successfully requeued message with queue id',
      notAll: 'Unable to requeue all messages',
      notOne: 'Unable to requeue message with queue id',
    }),
  },
});
