// Proof that a job was sent to a target: a target that brings its result later shows it, so that it cannot answer in the
// place of another job, for example one of a minion of the same id. Computed from a secret of this master: nothing has to
// be remembered about each job.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';

const secretBytes = 32;

/** What a receipt is about. */
export interface SentJob {
  readonly jid: string;
  readonly id: string;
  readonly fun: string;
}

export class Receipts {
  readonly #folder: string;
  readonly #log: Pick<Logger, 'info'>;
  #secret: Promise<Buffer> | undefined;

  /** `cachedir` of the master. */
  constructor(cachedir: string, log: Pick<Logger, 'info'>) {
    this.#folder = join(cachedir, 'ssh');
    this.#log = log;
  }

  async of({ jid, id, fun }: SentJob): Promise<string> {
    this.#secret ??= this.#load();
    const text = JSON.stringify([jid, id, fun]);
    return createHmac('sha256', await this.#secret)
      .update(text)
      .digest('base64url');
  }

  async isOf(receipt: string, sent: SentJob): Promise<boolean> {
    const [given, right] = [Buffer.from(receipt), Buffer.from(await this.of(sent))];
    return given.length === right.length && timingSafeEqual(given, right);
  }

  async #load(): Promise<Buffer> {
    const file = join(this.#folder, 'receipts.key');
    try {
      const known = await readFile(file).catch(() => undefined);
      return known?.length === secretBytes ? known : await this.#make(file);
    } catch (error) {
      this.#log.info('results of jobs whose connection is lost cannot be collected later', { error: messageOf(error) });
      return randomBytes(secretBytes);
    }
  }

  /** Of several that make it at the same time, the first one wins. */
  async #make(file: string): Promise<Buffer> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const draft = `${file}.${randomBytes(9).toString('hex')}.new`;
    try {
      await writeFile(draft, randomBytes(secretBytes), { mode: 0o600, flag: 'wx' });
      await link(draft, file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(draft, { force: true });
    }
    const made = await readFile(file);
    if (made.length !== secretBytes) throw new Error(`${file} is damaged: remove it`);
    return made;
  }
}
