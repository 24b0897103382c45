// Answers what ssh asks: passwords and passphrases reach it through a socket that only this user can open, never through
// arguments, the environment or a file.
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../engine/exec/process-tree.ts';
import { commandFile } from './programs.ts';
import type { SshTarget } from './target.ts';

/** What ssh asked one target, and could not be told. */
export interface Questions {
  /** The question about an unknown host key. */
  hostKey: string;
  /** It wanted a passphrase, and there is none. */
  passphrase: boolean;
  /** It wanted a password, and there is none. */
  password: boolean;
}

/** The socket of one target. */
export interface Answering {
  readonly env: NodeJS.ProcessEnv;
  readonly asked: Questions;
  close(): void;
}

const mostQuestion = 8192;
/** Unix sockets have short names. */
const longestFolder = 60;
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

const hostKeyQuestion = /\(yes\/no(\/\[fingerprint\])?\)/;
const passphraseQuestion = /passphrase for (key )?/i;
const passwordQuestion = /password/i;

/** The folder of one run: sockets of connections and of questions. */
export class Askpass {
  readonly folder: string;
  readonly #program: string;
  #last = 0;

  constructor() {
    const base = tmpdir().length > longestFolder ? '/tmp' : tmpdir();
    removeLeft(base);
    this.folder = mkdtempSync(join(base, `salt-ssh-${process.pid}-`));
    this.#program = join(this.folder, 'askpass');
    const script = `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(fileURLToPath(commandFile('ssh-askpass')))} "$@"\n`;
    writeFileSync(this.#program, script, { mode: 0o700 });
    chmodSync(this.#program, 0o700);
  }

  /** A path for a socket of this run. */
  socketPath(kind: string): string {
    return join(this.folder, `${kind}${++this.#last}`);
  }

  /** `isOwn`: whether an ssh process is that of the target, and not one that leads there. */
  async open(target: SshTarget, isOwn: (pid: number) => boolean): Promise<Answering> {
    const path = this.socketPath('a');
    const asked: Questions = { hostKey: '', passphrase: false, password: false };
    const told = { password: false, passphrase: false };
    const server: Server = createServer((socket) =>
      answer(socket, (question, pid) => answerTo({ question, isOwn: isOwn(pid) }, target, asked, told)),
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    server.unref();
    const env = {
      ...{ SSH_ASKPASS: this.#program, SSH_ASKPASS_REQUIRE: 'force', HALITE_ASKPASS: path },
      // Before 8.4 ssh asks a program only when there is a display.
      DISPLAY: process.env['DISPLAY'] || ':0',
    };
    return { env, asked, close: () => server.close() };
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Folders of runs that were killed. */
function removeLeft(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = Number(/^salt-ssh-(\d+)-\w{6}$/.exec(name)?.[1] ?? 0);
    if (pid > 0 && !isAlive(pid) && lstatSync(join(base, name), { throwIfNoEntry: false })?.uid === process.getuid?.())
      rmSync(join(base, name), { recursive: true, force: true });
  }
}

function answer(socket: Socket, decide: (question: string, pid: number) => string | undefined): void {
  let question = '';
  let done = false;
  socket.setEncoding('utf8');
  socket.on('error', () => undefined);
  socket.on('data', (text: string) => {
    question += text;
    if (done || (!question.includes('\0') && question.length < mostQuestion)) return;
    done = true;
    const [, pid = '0', asks = ''] = /^(\d+) ([^\0]*)/.exec(question) ?? [];
    const told = decide(asks, Number(pid));
    socket.end(told === undefined ? '' : `+${told}`);
  });
}

/**
 * Every secret is told once: a second question means that it was wrong. A password is told to the target only: another
 * ssh process that asks for one goes to a jump host.
 */
function answerTo(
  { question, isOwn }: { readonly question: string; readonly isOwn: boolean },
  target: SshTarget,
  asked: Questions,
  told: { password: boolean; passphrase: boolean },
): string | undefined {
  if (hostKeyQuestion.test(question)) {
    asked.hostKey = question;
    return 'no';
  }
  if (passphraseQuestion.test(question)) {
    if (!target.privPasswd || told.passphrase) {
      asked.passphrase = true;
      return undefined;
    }
    told.passphrase = true;
    return target.privPasswd;
  }
  if (!isOwn || !passwordQuestion.test(question) || !target.passwd || told.password) {
    asked.password = true;
    return undefined;
  }
  told.password = true;
  return target.passwd;
}
