// `state.pause`, `state.resume` and `state.soft_kill`: a file per job makes a run wait or end.

import { existsSync } from 'node:fs';
import { readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unpack } from '../../../base/codec/msgpack/index.ts';
import { pyStr } from '../../../base/codec/python/index.ts';
import { asNumber, dictGet, isDict } from '../../../base/codec/value.ts';
import { isJid } from '../../../base/util/index.ts';
import type { Chunk } from '../data.ts';

const pollMs = 1000;

/** The path of the settings of a run; undefined for a run without a jid. */
export function pausePath(cacheDir: string, jid: string | undefined): string | undefined {
  return jid !== undefined && isJid(jid) ? join(cacheDir, 'state_pause', jid) : undefined;
}

/** Waits as long as the state is paused. `kill` ends the run before it. */
export async function waitWhilePaused(
  path: string | undefined,
  low: Chunk,
  signal: AbortSignal,
): Promise<'run' | 'kill'> {
  if (path === undefined || !existsSync(path)) return 'run';
  const start = Date.now();
  for (;;) {
    const setting = await settingFor(path, pyStr(low['__id__']));
    if (!setting) return 'run';
    if (setting.kill) return 'kill';
    if (setting.seconds !== undefined && Date.now() - start > setting.seconds * 1000) return 'run';
    await sleep(pollMs, undefined, { signal });
  }
}

interface PauseSetting {
  readonly kill: boolean;
  readonly seconds: number | undefined;
}

async function settingFor(path: string, id: string): Promise<PauseSetting | undefined> {
  try {
    const data = unpack(await readFile(path));
    if (!isDict(data)) return undefined;
    const setting = dictGet(data, id) ?? dictGet(data, '__all__');
    if (setting === undefined || !isDict(setting)) return undefined;
    return { kill: dictGet(setting, 'kill') !== undefined, seconds: asNumber(dictGet(setting, 'duration')) };
  } catch {
    // Missing or incomplete: a run that waits without end would not help anyone.
    return undefined;
  }
}

export async function forgetPause(path: string | undefined): Promise<void> {
  if (path !== undefined && existsSync(path)) await unlink(path).catch(() => undefined);
}
