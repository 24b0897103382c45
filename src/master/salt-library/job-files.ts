// Jobs of programs with Salt's Python library: such a program reads the job and its results from the files of Salt's
// job cache, so they are written there for these jobs, and for no others.
import { chmod, chown, mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { type Account, findAccount } from '../../base/config/accounts.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { jidDir } from '../../base/util/jid.ts';
import { replaceFile } from '../../base/util/replace-file.ts';
import { isPathComponent } from '../../base/util/valid-id.ts';
import { type AskedJob, wireTexts } from '../../protocol/job/job.ts';

/** Jobs whose results are still written. */
const mostJobs = 10_000;
const sweepMs = 3_600_000;
/** Others may pass through, and list nothing. */
const passMode = 0o711;
/** The group of the job's user may list and read. Only the master may write: what lies here is followed by root. */
const sharedFolderMode = 0o750;
/** Marks a folder made here: those of a Salt master that was here before are not removed. */
const mark = '.halite';

export interface JobFileParts {
  readonly opts: { readonly cachedir: string; readonly hash_type: unknown; readonly user: unknown };
  readonly log: Pick<Logger, 'limited'>;
  readonly keepSeconds: number;
}

interface Kept {
  readonly folder: string;
  readonly owner: Account | undefined;
}

export class JobFiles {
  readonly #parts: JobFileParts;
  readonly #root: string;
  readonly #kept = new Map<string, Kept>();
  #timer: NodeJS.Timeout | undefined;
  #lastSweep = 0;

  constructor(parts: JobFileParts) {
    this.#parts = parts;
    this.#root = join(parts.opts.cachedir, 'jobs');
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Before its caller is told the job id: it looks for the job at once. */
  async saveJob(jid: string, asked: AskedJob, minions: readonly string[]): Promise<void> {
    const folder = jidDir(jid, this.#root, String(this.#parts.opts.hash_type || 'sha256'));
    const kept = { folder, owner: this.#ownerFor(asked.user) };
    this.#kept.set(jid, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostJobs && oldest !== undefined) this.#kept.delete(oldest);
    this.#sweepSoon();
    await this.#safely(jid, async () => {
      await this.#makeFolder(kept, folder);
      await this.#write(kept, join(folder, mark), Buffer.alloc(0));
      await this.#write(kept, join(folder, 'jid'), Buffer.from(jid));
      await this.#write(kept, join(folder, '.minions.p'), packed([...minions]));
      await this.#write(kept, join(folder, '.load.p'), packed(loadOf(jid, asked)));
    });
  }

  /** The result of such a job; the first of a minion stays. Jobs of others cost a look into a map. */
  async saveReturn(jid: string, id: string, load: PlainDict): Promise<void> {
    const kept = this.#kept.get(jid);
    if (!kept || !isPathComponent(id) || id.startsWith('.')) return;
    await this.#safely(jid, async () => {
      const own = join(kept.folder, id);
      if (await stat(join(own, 'return.p')).catch(() => undefined)) return;
      await this.#makeFolder(kept, own);
      const fields = newDict();
      for (const name of ['return', 'retcode', 'success'] as const)
        if (load[name] !== undefined) fields[name] = load[name];
      if (load['out'] !== undefined) await this.#write(kept, join(own, 'out.p'), packed(load['out']));
      await this.#write(kept, join(own, 'return.p'), packed(fields));
    });
  }

  /** A full disk is no reason to refuse a job: its results are in the master's own store. */
  async #safely(jid: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) =>
      this.#parts.log.limited('job-files', 'error', 'a job of a Python program could not be written for it', {
        ...{ jid, error: messageOf(error) },
      }),
    );
  }

  /** Only root can give files away; a user without an account here reads nothing. */
  #ownerFor(user: string): Account | undefined {
    if (process.geteuid?.() !== 0 || user === 'root' || user === this.#parts.opts.user) return undefined;
    return findAccount(user);
  }

  async #makeFolder({ owner }: Kept, folder: string): Promise<void> {
    const above = join(folder, '..');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (!owner) return;
    if (join(above, '..') === this.#root) await chmod(above, passMode);
    await chown(folder, 0, owner.gid);
    await chmod(folder, sharedFolderMode);
  }

  async #write({ owner }: Kept, file: string, content: Buffer): Promise<void> {
    await replaceFile(file, content);
    if (owner) await chown(file, owner.uid, owner.gid);
  }

  /** Only while there are such jobs: a master without Python programs has no timer. */
  #sweepSoon(): void {
    if (this.#timer || this.#parts.keepSeconds <= 0) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        void this.#safely('', () => this.#sweep());
      },
      Math.max(0, this.#lastSweep + sweepMs - Date.now()),
    );
    this.#timer.unref();
  }

  /** Removes the folders of old jobs that were made here: the age of their mark decides. */
  async #sweep(): Promise<void> {
    this.#lastSweep = Date.now();
    const limit = this.#lastSweep - this.#parts.keepSeconds * 1000;
    for (const top of await readdir(this.#root)) {
      for (const rest of await readdir(join(this.#root, top)).catch(() => [])) {
        const folder = join(this.#root, top, rest);
        const found = await stat(join(folder, mark)).catch(() => undefined);
        if (found && found.mtimeMs < limit) await rm(folder, { recursive: true, force: true });
      }
      // Only an empty one goes.
      await rmdir(join(this.#root, top)).catch(() => undefined);
    }
    if (this.#kept.size > 0) this.#sweepSoon();
  }
}

const packed = (value: Value): Buffer => pack(value, { bin: true });

/** The job as Salt's master keeps it. */
function loadOf(jid: string, asked: AskedJob): PlainDict {
  const { fun, arg, tgt, tgt_type, user, ret = '' } = asked;
  return newDict([
    ['cmd', 'publish'],
    ['tgt', wireTexts(tgt)],
    ['fun', wireTexts(fun)],
    ['arg', [...arg]],
    ['tgt_type', tgt_type],
    ['ret', ret],
    ['jid', jid],
    ['user', user],
  ]);
}
