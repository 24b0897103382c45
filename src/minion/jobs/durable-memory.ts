// Which durable jobs this minion started, on disk: a job that is delivered twice, or after a restart, still runs once.
import { mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isJid } from '../../base/util/index.ts';
import { replaceFile } from '../../base/util/replace-file.ts';

/** A master may deliver again after the job expired: it does not know yet that the minion had started it in time. */
const keptAfterMs = 7 * 86_400_000;

export type Claim = 'new' | 'begun' | 'done';

interface Note {
  readonly until: number;
  readonly state: 'begun' | 'done';
}

export class DurableMemory {
  readonly #folder: string;

  constructor(cacheDir: string) {
    this.#folder = join(cacheDir, 'halite', 'durable');
  }

  /** Called once at start: removes entries that are no longer delivered. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      const note = await this.#read(name);
      if (!note || note.until + keptAfterMs < Date.now()) await unlink(join(this.#folder, name)).catch(() => undefined);
    }
  }

  /** 'new' exactly once per jid, for any number of concurrent calls; the entry is on disk before the job starts. */
  async claim(jid: string, until: number): Promise<Claim> {
    if (!isJid(jid)) return 'new';
    try {
      const file = await open(join(this.#folder, jid), 'wx', 0o600);
      await file.writeFile(noteText({ until, state: 'begun' }));
      await file.sync();
      await file.close();
      return 'new';
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return (await this.#read(jid))?.state ?? 'begun';
    }
  }

  /** Its result is delivered or in the spool. */
  async done(jid: string, until: number): Promise<void> {
    if (isJid(jid)) await replaceFile(join(this.#folder, jid), noteText({ until, state: 'done' }));
  }

  async #read(name: string): Promise<Note | undefined> {
    try {
      const note = JSON.parse(await readFile(join(this.#folder, name), 'utf8')) as Partial<Note>;
      if (typeof note.until !== 'number') return undefined;
      return { until: note.until, state: note.state === 'done' ? 'done' : 'begun' };
    } catch {
      return undefined;
    }
  }
}

const noteText = (note: Note): string => JSON.stringify(note);
