// Archives with the same bytes for the same input: sorted names, one time, no owner's name.
import { writeFileSync } from 'node:fs';
import { run } from './run.mjs';

/** `owners`: as the files have them; `more`: further options of tar. Returns the path of the archive. */
export function fixedTar(folder, file, seconds, { prefix = '.', owners = false, more = [] } = {}) {
  const root = owners ? [] : ['--owner=0', '--group=0'];
  const fixed = ['--sort=name', `--mtime=@${seconds}`, ...root, '--numeric-owner', '--format=gnu', ...more];
  run('tar', [...fixed, '-C', folder, '-cf', file, prefix]);
  return file;
}

/** `level`: of xz, 0 to 9. */
export function tarXz(folder, file, seconds, { level = 6, prefix = '.' } = {}) {
  fixedTar(folder, `${file}.tar`, seconds, { prefix });
  run('sh', ['-c', `xz -T1 -${level} -c <"$1" >"$2" && rm "$1"`, 'sh', `${file}.tar`, file]);
}

/** The container of Debian packages. */
export function ar(file, members, seconds) {
  const parts = [Buffer.from('!<arch>\n')];
  for (const [name, bytes] of members) {
    const head = [name.padEnd(16), String(seconds).padEnd(12), '0     ', '0     ', '100644  '];
    parts.push(Buffer.from(`${head.join('')}${String(bytes.length).padEnd(10)}\`\n`), bytes);
    if (bytes.length % 2 === 1) parts.push(Buffer.from('\n'));
  }
  writeFileSync(file, Buffer.concat(parts));
}
