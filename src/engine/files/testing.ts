// Folders, file servers and requests for tests of this folder and of what is built on it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { type FileServerOpts, openFileServer } from './open.ts';
import { fileRequests } from './requests.ts';
import type { FileServer } from './server.ts';

/** A folder that is removed after the test. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'halite-files-')));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Writes files below a folder; `null` creates a folder, `-> target` a link. */
export function writeTree(root: string, tree: Readonly<Record<string, string | Uint8Array | null>>): void {
  for (const [name, content] of Object.entries(tree)) {
    const path = join(root, name);
    mkdirSync(content === null ? path : dirname(path), { recursive: true });
    if (typeof content === 'string' && content.startsWith('-> ')) symlinkSync(content.slice(3), path);
    else if (content !== null) writeFileSync(path, content);
  }
}

export interface TestLog {
  readonly warnings: string[];
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export function testLog(): TestLog {
  const warnings: string[] = [];
  return { warnings, warn: (message, fields) => void warnings.push(`${message} ${JSON.stringify(fields ?? {})}`) };
}

export function serverOpts(
  root: string,
  extra: Partial<FileServerOpts> & Record<string, unknown> = {},
): FileServerOpts {
  return {
    cachedir: join(root, 'cache'),
    file_roots: { base: [join(root, 'base')] },
    fileserver_backend: ['roots'],
    fileserver_followsymlinks: true,
    fileserver_ignoresymlinks: false,
    fileserver_list_cache_time: 0,
    hash_type: 'sha256',
    file_buffer_size: 1 << 20,
    ...extra,
  };
}

export function openTestServer(
  root: string,
  extra: Partial<FileServerOpts> & Record<string, unknown> = {},
  log: TestLog = testLog(),
): FileServer {
  return openFileServer(serverOpts(root, extra), { log });
}

/** One request as a minion sends it. */
export async function ask(server: FileServer, command: string, load: Record<string, Value> = {}): Promise<Value> {
  const answer = fileRequests.get(command);
  if (!answer) throw new Error(`no such request: ${command}`);
  return answer(server, newDict(Object.entries(load)) as PlainDict);
}
