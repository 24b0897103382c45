// Chunks of files in jobs of `salt-cp`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModuleContext } from 'halite/sdk';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { receiveFunctions } from './receive.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'receive-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

// Our command sends base64 as text, Salt's command sends bytes.
it.each([
  ['text', 'MQo='],
  ['bytes', Buffer.from('MQo=')],
])('writes a chunk that comes as %s', async (_form, chunk) => {
  const dest = join(root, 'made/file');
  const args = { dest, chunk, append: false, compressed: false, mode: 0o600 };
  expect(await receiveFunctions.recv_chunked.run(args as never, {} as ModuleContext)).toBe(true);
  expect(readFileSync(dest, 'utf8')).toBe('1\n');
});
