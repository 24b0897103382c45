// One file per running job under cachedir/proc, in Salt's format: `saltutil.running` of any process reads them.
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import type { PlainDict } from '../../base/codec/value.ts';
import { isJid } from '../../base/util/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import { isAlive } from '../../engine/exec/process-tree.ts';
import type { RunningJob } from '../../protocol/job/job.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readRunningJob } from '../../protocol/wire/messages/job.ts';

export class ProcFiles {
  readonly folder: string;

  constructor(cacheDir: string) {
    this.folder = join(cacheDir, 'proc');
  }

  /** Called once at start. */
  async prepare(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o750 });
  }

  /**
   * Records that a process runs a job. Invalid jids never become file names. Written atomically, and before
   * the job starts: after a crash, the next daemon finds the running job with its deadline.
   */
  write(jid: string, shown: PlainDict): void {
    if (isJid(jid)) replaceFileNow(join(this.folder, jid), pack(shown));
  }

  async remove(jid: string): Promise<void> {
    if (isJid(jid)) await unlink(join(this.folder, jid)).catch(() => undefined);
  }

  /** The jobs whose process is alive; removes the files of dead ones. */
  async running(): Promise<RunningJob[]> {
    const names = await readdir(this.folder).catch((): string[] => []);
    const found = await Promise.all(names.filter(isJid).map((name) => this.#read(name)));
    return found.filter((job) => job !== undefined);
  }

  async #read(name: string): Promise<RunningJob | undefined> {
    const running = await readFile(join(this.folder, name)).then(readFields, () => undefined);
    if (running && isAlive(running.pid)) return running;
    await this.remove(name);
    return undefined;
  }
}

function readFields(bytes: Uint8Array): RunningJob | undefined {
  try {
    const running = readRunningJob(unpack(bytes));
    return isProblem(running) ? undefined : running;
  } catch {
    // Being written by another process: it is read again at the next call.
    return undefined;
  }
}
