// The Node that goes into a package: downloaded once by npm, and checked against the sum in node.json.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.mjs';

const pinned = JSON.parse(readFileSync(new URL('node.json', import.meta.url), 'utf8'));
export const nodeVersion = pinned.version;

const cache = () => process.env.HALITE_PACKAGE_CACHE ?? join(homedir(), '.cache', 'halite-package');

function check(file, { name, integrity }) {
  const sum = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (sum !== integrity)
    throw new Error(
      `${name}@${pinned.version} is not the file that scripts/package/node.json names:\n  expected ${integrity}\n  received ${sum}`,
    );
}

/** Puts `bin/node` and its licence into the folder. */
export function placeNode(arch, folder) {
  const wanted = pinned.packages[arch];
  if (!wanted)
    throw new Error(`There is no Node for ${arch}: scripts/package/node.json has ${Object.keys(pinned.packages)}`);
  const file = join(cache(), `${wanted.name}-${pinned.version}.tgz`);
  const scratch = mkdtempSync(join(tmpdir(), 'halite-node-'));
  try {
    if (!existsSync(file)) {
      mkdirSync(cache(), { recursive: true });
      run('npm', ['pack', `${wanted.name}@${pinned.version}`, '--silent', '--pack-destination', scratch]);
      const packed = join(scratch, `${wanted.name}-${pinned.version}.tgz`);
      check(packed, wanted);
      // Not renamed: the cache may be on another file system.
      copyFileSync(packed, `${file}.new`);
      renameSync(`${file}.new`, file);
    }
    check(file, wanted);
    run('tar', ['-xzf', file, '-C', scratch, 'package/bin/node', 'package/LICENSE']);
    mkdirSync(join(folder, 'bin'), { recursive: true });
    copyFileSync(join(scratch, 'package/bin/node'), join(folder, 'bin/node'));
    copyFileSync(join(scratch, 'package/LICENSE'), join(folder, 'LICENSE.node'));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
