// The jobs of higher masters that are under way here, one file each: after a restart their results are fetched from the
// master of this machine, which has them in its store.
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { numberField, textField } from '../base/codec/fields.ts';
import { parsePlain } from '../base/codec/json/index.ts';
import { isDict } from '../base/codec/value.ts';
import { messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { isJid } from '../base/util/jid.ts';
import { replaceFile } from '../base/util/replace-file.ts';

export interface JobNote {
  readonly jid: string;
  /** The higher master that asked, `host:port`. */
  readonly upper: string;
  /** Its name, when it has one: it is sent back with the results. */
  readonly masterId?: string;
  readonly fun: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

const mostNotes = 10_000;

export class JobNotes {
  readonly #folder: string;
  readonly #log: Pick<Logger, 'limited'>;
  #count = 0;

  constructor(cacheDir: string, log: Pick<Logger, 'limited'>) {
    this.#folder = join(cacheDir, 'halite', 'syndic-jobs');
    this.#log = log;
  }

  /** Those of an earlier process, oldest first; what is too old has no results any more. */
  async restore(keepMs: number): Promise<JobNote[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const found: JobNote[] = [];
    for (const name of (await readdir(this.#folder)).sort()) {
      const note = readNote(await readFile(join(this.#folder, name), 'utf8').catch(() => ''));
      if (note && name === note.jid && Date.now() - note.since < keepMs) found.push(note);
      else await unlink(join(this.#folder, name)).catch(() => undefined);
    }
    this.#count = found.length;
    return found;
  }

  async add(note: JobNote): Promise<void> {
    if (this.#count >= mostNotes) return;
    this.#count++;
    await replaceFile(join(this.#folder, note.jid), JSON.stringify(note)).catch((error: unknown) =>
      this.#log.limited('job-notes', 'error', 'a job could not be noted: its results are lost if this daemon ends', {
        ...{ jid: note.jid, error: messageOf(error) },
      }),
    );
  }

  async remove(jid: string): Promise<void> {
    const removed = await unlink(join(this.#folder, jid)).then(
      () => true,
      () => false,
    );
    if (removed) this.#count = Math.max(0, this.#count - 1);
  }
}

function readNote(text: string): JobNote | undefined {
  try {
    const value = parsePlain(text);
    if (!isDict(value)) return undefined;
    const [jid, upper, fun] = [textField(value, 'jid'), textField(value, 'upper'), textField(value, 'fun')];
    const masterId = textField(value, 'masterId');
    const since = numberField(value, 'since');
    if (!isJid(jid) || upper === undefined || fun === undefined || since === undefined) return undefined;
    return { jid, upper, fun, since, ...(masterId === undefined ? {} : { masterId }) };
  } catch {
    return undefined;
  }
}
