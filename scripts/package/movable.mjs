// An archive that works wherever it is unpacked, without root.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { tarXz } from './archive.mjs';
import { run } from './run.mjs';
import { commandNames, stageDocs, stageManuals, writeMovableCommand } from './stage.mjs';

export function movableArchive({ app, arch, out, seconds, level, version }) {
  const scratch = mkdtempSync(join(tmpdir(), 'halite-tar-'));
  const name = `halite-${version}-linux-${arch}`;
  try {
    const tree = join(scratch, name);
    for (const folder of ['bin', 'lib']) mkdirSync(join(tree, folder), { recursive: true });
    run('cp', ['-a', app, join(tree, 'lib/halite')]);
    for (const command of commandNames) writeMovableCommand(join(tree, 'bin', command), command);
    stageManuals(join(tree, 'share/man/man1'));
    stageDocs(join(tree, 'share/doc/halite'));
    mkdirSync(join(tree, 'share/halite'));
    copyFileSync(join(root, 'packaging/bootstrap.sh'), join(tree, 'share/halite/bootstrap.sh'));
    run('chmod', ['-R', 'u+rwX,go+rX,go-w', tree]);
    const file = join(out, `${name}.tar.xz`);
    tarXz(scratch, file, seconds, { level, prefix: name });
    return file;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
