// One file per running job under cachedir/proc, in Salt's format: `saltutil.running` of any process reads them.
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import {
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { isJid } from '../../base/util/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import { isAlive } from '../../engine/exec/process-tree.ts';
import type { RunningJob } from '../../extend/sdk/index.ts';

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
   * Notes that a process works on a job. Ids that are no jids never become file names. Whole or not at all, and before
   * the job begins: a daemon that is killed a moment later finds what it left running, with its deadline.
   */
  write(job: Dict, pid: number): void {
    const jid = dictGet(job, 'jid');
    if (!isJid(jid)) return;
    const data = newDict([['pid', pid], ...(dictEntries(job) as [string, Value][])]);
    replaceFileNow(join(this.folder, jid), pack(data));
  }

  async remove(jid: string): Promise<void> {
    if (isJid(jid)) await unlink(join(this.folder, jid)).catch(() => undefined);
  }

  /** The jobs whose process is alive; files of dead ones are cleaned up on the way. */
  async running(): Promise<RunningJob[]> {
    const names = await readdir(this.folder).catch((): string[] => []);
    const found = await Promise.all(names.filter(isJid).map((name) => this.#read(name)));
    return found.filter((job) => job !== undefined);
  }

  async #read(name: string): Promise<RunningJob | undefined> {
    const data = await readFile(join(this.folder, name)).then(
      (bytes) => (bytes.length > 0 ? readDict(bytes) : undefined),
      () => undefined,
    );
    const pid = data?.['pid'];
    if (!data || typeof pid !== 'number' || !isAlive(pid)) {
      await this.remove(name);
      return undefined;
    }
    return data as unknown as RunningJob;
  }
}

function readDict(bytes: Uint8Array): PlainDict | undefined {
  try {
    const value = unpack(bytes);
    return isDict(value) && !(value instanceof Map) ? value : undefined;
  } catch {
    // Half written by another process: it is read again the next time somebody asks.
    return undefined;
  }
}
