// ZIP files: listed and unpacked in bounds, or refused.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeZip, ZipFile } from '../../../src/ext/shared/archive/zip-file.ts';
import { type FuzzTarget, hold, ownFolder, read } from '../engine/target.ts';

const folder = ownFolder();

function sample(): Buffer {
  const path = join(folder, 'sample.zip');
  writeZip(path, [
    { name: 'a.txt', mode: 0o100644, content: Buffer.from('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') },
    { name: 'd/', mode: 0o40755, content: Buffer.alloc(0) },
  ]);
  return readFileSync(path);
}

const target: FuzzTarget = {
  tokens: ['PK\x01\x02', 'PK\x03\x04', 'PK\x05\x06', 'PK\x06\x06', '../', '/etc/x'],
  seeds: [sample()],
  run: (bytes) => {
    const path = join(folder, 'input.zip');
    writeFileSync(path, bytes);
    const zip = read(() => new ZipFile(path));
    if (!zip) return;
    try {
      hold(zip.entries.length <= bytes.length / 46, 'no more entries than there is room for');
      for (const entry of zip.entries) {
        const content = read(() => zip.content(entry, 'password'));
        hold(
          content === undefined || content.length <= Math.max(entry.size, bytes.length, 1),
          'no content is larger than it says',
        );
      }
    } finally {
      zip.close();
    }
  },
};
export default target;
