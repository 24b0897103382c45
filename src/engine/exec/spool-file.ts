// Writes a return that could not be delivered: atomically, readable by the owner only.
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pack } from '../../base/codec/msgpack/index.ts';
import type { PlainDict } from '../../base/codec/value.ts';

/** Puts a load into a spool file; an older one of the same name is replaced. */
export async function writeSpoolFile(path: string, load: PlainDict): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(pack(load));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path).catch(async (error: unknown) => {
    await unlink(temporary).catch(() => undefined);
    throw error;
  });
}
