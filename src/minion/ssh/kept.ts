// Results of jobs whose connection was lost: kept in the folder, and given to the next salt-ssh that comes.
import { readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { unpack } from '../../base/codec/msgpack/index.ts';
import { asPlainDict, newDict, type PlainDict } from '../../base/codec/value.ts';
import { isJid } from '../../base/util/index.ts';
import { writeSpoolFile } from '../../engine/exec/spool-file.ts';
import type { SessionLink } from './link.ts';
import type { SshStart } from './start.ts';

const folderOf = (folder: string): string => join(folder, 'halite', 'kept');

/** Older ones are dropped: nobody has asked for so many. */
const mostKept = 50;
const mostBytes = 64 << 20;

export async function keepResult(folder: string, { jid, fun, id, receipt }: SshStart, done: PlainDict): Promise<void> {
  if (!isJid(jid)) return;
  const about = newDict(Object.entries({ jid, fun, id, receipt }));
  await writeSpoolFile(join(folderOf(folder), jid), Object.assign(newDict(Object.entries(done)), about));
}

/** A result that is not readable is dropped, one that is not accepted is tried again next time. */
export async function deliverKept(folder: string, link: SessionLink): Promise<void> {
  const names = (await readdir(folderOf(folder)).catch((): string[] => [])).filter(isJid).sort();
  for (const [at, name] of names.entries()) {
    const path = join(folderOf(folder), name);
    const kept = at < names.length - mostKept ? undefined : await readKept(path);
    if (kept) {
      const load = newDict(Object.entries({ cmd: '_ssh_kept', kept }));
      const taken = await link.channel.request(load, { timeoutMs: 0 }).catch(() => false);
      if (taken !== true) continue;
    }
    await unlink(path).catch(() => undefined);
  }
}

async function readKept(path: string): Promise<PlainDict | undefined> {
  try {
    const bytes = await readFile(path);
    return bytes.length > mostBytes ? undefined : asPlainDict(unpack(bytes));
  } catch {
    return undefined;
  }
}
