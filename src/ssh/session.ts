// One job on one target: starts the program there, answers what it requests, and returns its result or the reason why
// there is none.
import { dictField, intField, listField, textField } from '../base/codec/fields.ts';
import { packValue } from '../base/codec/msgpack/index.ts';
import { dictGet, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { encodeFrame, FrameReader, framesLine } from '../protocol/wire/stdio/frames.ts';
import { type Limits, longestMs, type SshHost, type SshProcess } from './host.ts';
import { provision, readNeeds } from './provision.ts';
import {
  failureOf,
  interrupted,
  isWrongPassword,
  placeFailure,
  type SshFailure,
  sshFailure,
  startFailure,
  tooLate,
  wrongPassword,
} from './reasons.ts';
import type { Runtimes } from './runtimes.ts';
import { type Around, around, mark, runCommand } from './scripts.ts';

export type SshOutcome =
  | {
      readonly kind: 'result';
      readonly ret: Value;
      readonly retcode: number;
      readonly out?: string;
      readonly inOrder: boolean;
      readonly funArgs: readonly Value[];
    }
  /** The function could not be called, or the command of `-r`: with what was printed. */
  | { readonly kind: 'text'; readonly stdout: string; readonly stderr: string; readonly retcode: number }
  | { readonly kind: 'missing'; readonly failure: SshFailure };

export interface JobOnTarget {
  /** The start message, without what this module adds. */
  readonly message: PlainDict;
  readonly wipe: boolean;
  readonly fresh: boolean;
}

export interface SessionParts {
  readonly host: SshHost;
  readonly folder: string;
  readonly runtimes: Runtimes;
  readonly log: Logger;
  readonly onProgress: (text: string) => void;
  /** The answer to a request of this target. */
  answer(load: PlainDict): Promise<Value>;
}

/** A result may be large; a request is not. */
const limits = { bytes: 128 << 20, items: 5_000_000 };
/** Requests of one target that are answered at the same time; then it has to wait. */
const mostOpen = 32;
const mostRounds = 3;
/** How long a login shell may take after the connection is there. */
const shellMs = 30_000;
/** How long a session may take to end by itself: a background process of the job may hold it open. */
const endMs = 1_000;
const wipeMs = 30_000;

export class TargetSession {
  readonly #parts: SessionParts;
  readonly #job: JobOnTarget;
  readonly #reader: FrameReader;
  #process: SshProcess | undefined;
  #around: Omit<Around, 'tty'> | undefined;
  #outcome: SshOutcome | undefined;
  #running = false;
  #rounds = 0;
  #open = 0;
  #draining: Promise<void> | undefined;
  #timers: NodeJS.Timeout[] = [];

  constructor(parts: SessionParts, job: JobOnTarget) {
    this.#parts = parts;
    this.#job = job;
    const take = { line: (text: string) => this.#line(text), message: (message: PlainDict) => this.#message(message) };
    this.#reader = new FrameReader(take, limits);
  }

  /** Never rejects. */
  async run({ signal, deadlineMs }: Limits): Promise<SshOutcome> {
    const { host, folder, runtimes } = this.#parts;
    const { target } = host;
    const { tty } = target;
    this.#around = aroundOf(target);
    const [known, program] = await Promise.all([runtimes.known(), runtimes.program()]);
    const words = { folder, runtimes: known, program: program.sha256.slice(0, 16), tty };
    const command = runCommand({ ...words, fresh: this.#job.fresh, wipe: this.#job.wipe });
    const process = host.connect(around(command, { ...this.#around, tty }));
    this.#process = process;
    if (this.#sudoPassword !== '') process.child.stdin.write(`${this.#sudoPassword}\n`);
    process.child.stdout.on('data', (chunk: Buffer) => this.#feed(chunk));
    process.child.stderr.on('data', (text: string) => this.#refused(text));
    const abort = (): void => this.#cancel(interrupted());
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    this.#timer(target.timeout * 1000 + shellMs, () => {
      if (!this.#running && this.#rounds === 0)
        this.#fail(
          failureOf('ssh-unreachable', `It did not answer within ${target.timeout + shellMs / 1000} seconds`, 255),
        );
    });
    if (deadlineMs !== undefined) this.#timer(deadlineMs, () => this.#cancel(tooLate()));
    const status = await process.ended;
    if (process.errors.trim() !== '')
      this.#parts.log.debug('printed on the target', { target: target.id, text: process.errors.trim().slice(-4000) });
    for (const timer of this.#timers) clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    return this.#outcome ?? { kind: 'missing', failure: this.#endFailure(status, process.errors) };
  }

  get #sudoPassword(): string {
    const { sudo, sudoPasswd, passwd } = this.#parts.host.target;
    return sudo ? sudoPasswd || passwd : '';
  }

  #timer(ms: number, work: () => void): void {
    this.#timers.push(setTimeout(work, Math.min(ms, longestMs)));
  }

  #endFailure(status: number, errors: string): SshFailure {
    if (!this.#running) return sshFailure(status, errors, this.#parts.host.asked);
    // The program of the target itself could not run.
    if (!this.#reader.framed && status !== 255) return startFailure(status, errors);
    const text = errors.trim().slice(-1000);
    // ssh says why it lost a connection; it says nothing when a signal ended the program there.
    const lost = status === 255 && (this.#process?.killed === true || text !== '');
    const why = lost
      ? `The connection was lost; the job goes on there, and ${this.#job.wipe ? 'its result is removed with its folder' : 'the next run collects its result'}`
      : 'The job process ended unexpectedly';
    return failureOf('ssh-lost', text === '' ? why : `${why}\n${text}`, status || 1);
  }

  #feed(chunk: Buffer): void {
    try {
      this.#reader.feed(chunk);
    } catch (error) {
      this.#fail(failureOf('ssh-lost', `The target sent what this protocol does not have: ${messageOf(error)}`));
    }
  }

  #line(text: string): void {
    const at = text.indexOf(`${mark} `);
    if (at < 0) {
      this.#refused(text);
      return;
    }
    const [what, ...words] = text.slice(at + mark.length + 1).split(' ');
    if (what === 'bad') this.#fail(placeFailure(this.#parts.folder, words[0] ?? ''));
    else if (what === 'run') this.#begin();
    else if (what === 'needs') void this.#provide(words);
  }

  /** sudo does not accept the password; with a terminal it says so among our own lines. */
  #refused(text: string): void {
    if (!this.#running && this.#sudoPassword !== '' && isWrongPassword(text)) this.#fail(wrongPassword());
  }

  #begin(): void {
    if (this.#running) return;
    this.#running = true;
    const stdin = this.#process?.child.stdin;
    stdin?.write(`${framesLine}\n`);
    stdin?.write(encodeFrame(Object.assign(newDict([['t', 'start']]), this.#job.message)));
  }

  async #provide(words: readonly string[]): Promise<void> {
    const { host, folder, runtimes, onProgress } = this.#parts;
    this.#rounds++;
    const needs = readNeeds(words);
    const failure =
      this.#rounds > mostRounds
        ? failureOf('ssh-runtime', 'What was sent there does not stay there')
        : await provision(
            { host, folder, runtimes, around: this.#around!, sudoPassword: this.#sudoPassword, onStep: onProgress },
            needs,
          ).catch((error: unknown) => failureOf('ssh-runtime', messageOf(error)));
    if (!failure) return void this.#process?.child.stdin.write(`@again@ ${await runtimes.known()}\n`);
    this.#outcome ??= { kind: 'missing', failure };
    this.#process?.child.stdin.write('@stop@\n');
    this.#process?.child.stdin.end();
    this.#timer(this.#job.wipe ? wipeMs : endMs, () => this.#process?.kill());
  }

  #message(message: PlainDict): void {
    if (this.#outcome) return;
    const kind = textField(message, 't');
    if (kind === 'progress') this.#parts.onProgress((textField(message, 'text') ?? '').slice(0, 500));
    else if (kind === 'done') this.#finish(readDone(message));
    else if (kind === 'call') void this.#answer(message);
    else throw new HaliteError('codec.malformed', 'a message of an unknown kind');
  }

  async #answer(message: PlainDict): Promise<void> {
    const n = intField(message, 'n') ?? 0;
    const load = dictField(message, 'load');
    const { stdin, stdout } = this.#process!.child;
    // It waits until earlier answers are on their way.
    if (++this.#open >= mostOpen) stdout.pause();
    let reply: PlainDict;
    try {
      if (!load || load instanceof Map) throw new HaliteError('codec.malformed', 'The request has no load');
      const body = packValue(await this.#parts.answer(load));
      reply = newDict(Object.entries({ t: 'reply', n, body }));
    } catch (error) {
      const code = error instanceof HaliteError ? error.code : 'call.failed';
      reply = newDict(Object.entries({ t: 'failure', n, code, message: messageOf(error) }));
    }
    if (stdin.writable && !stdin.write(encodeFrame(reply))) await this.#drained();
    if (--this.#open < mostOpen) stdout.resume();
  }

  /** Until ssh takes more: one wait for all answers that are held up. */
  #drained(): Promise<void> {
    const { stdin } = this.#process!.child;
    this.#draining ??= new Promise<void>((resolve) => {
      const done = (): void => {
        stdin.off('drain', done).off('close', done);
        this.#draining = undefined;
        resolve();
      };
      stdin.once('drain', done).once('close', done);
    });
    return this.#draining;
  }

  #finish(outcome: SshOutcome): void {
    this.#outcome = outcome;
    // Otherwise it keeps the result for the next run.
    this.#process?.child.stdin.end(encodeFrame(newDict([['t', 'taken']])));
    this.#timer(this.#job.wipe ? wipeMs : endMs, () => this.#process?.kill());
  }

  /** For a target that did not behave: the connection is closed. */
  #fail(failure: SshFailure): void {
    this.#outcome ??= { kind: 'missing', failure };
    this.#process?.kill();
  }

  /** The job is taken back: what it started there ends too. */
  #cancel(failure: SshFailure): void {
    this.#outcome ??= { kind: 'missing', failure };
    const stdin = this.#process?.child.stdin;
    if (this.#reader.framed) stdin?.write(encodeFrame(newDict([['t', 'cancel']])));
    stdin?.end();
    this.#timer(endMs, () => this.#process?.kill());
  }
}

function aroundOf(target: SshHost['target']): Omit<Around, 'tty'> {
  const { sudo, sudoUser, sudoPasswd, passwd, umask, setPath } = target;
  return {
    sudo: sudo ? { user: sudoUser, password: (sudoPasswd || passwd) !== '' } : undefined,
    ...{ umask, setPath },
  };
}

/** A result of the target: every field as it should be, or absent. */
export function readDone(message: PlainDict): SshOutcome {
  const retcode = intField(message, 'retcode') ?? 1;
  if (dictGet(message, 'failed') === true) {
    const [stdout, stderr] = [textField(message, 'stdout') ?? '', textField(message, 'stderr') ?? ''];
    return { kind: 'text', stdout, stderr, retcode: retcode & 0xff || 1 };
  }
  const out = textField(message, 'out');
  return {
    kind: 'result',
    ret: dictGet(message, 'return') ?? null,
    retcode: retcode & 0xff,
    inOrder: dictGet(message, 'in_order') === true,
    funArgs: listField(message, 'fun_args') ?? [],
    ...(out === undefined ? {} : { out }),
  };
}
