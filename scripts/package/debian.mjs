// Debian packages.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ar, tarXz } from './archive.mjs';
import { eachPackage, entriesOf, installedSize } from './contents.mjs';
import { run } from './run.mjs';

const marker = (name) => `/run/${name}.new`;
const architectures = { x64: 'amd64', arm64: 'arm64' };

/**
 * Debian calls scripts with words that say what happens. A package that was removed, not purged, and comes back is
 * configured with its old version, as at an upgrade: only preinst knows.
 */
const hooks = {
  preinst: ({ removing }, name) => removing && `[ "$1" != install ] || : >${marker(name)}\n`,
  postinst: ({ installed }, name) =>
    installed &&
    `[ "$1" = configure ] || exit 0\nhow=new\n[ -z "$2" ] || [ -e ${marker(name)} ] || how=upgrade\nrm -f ${marker(name)}\n${installed}`,
  prerm: ({ removing }) => removing && `[ "$1" = remove ] || exit 0\n${removing}`,
  postrm: ({ removed = '', purged }) =>
    purged && `if [ "$1" = remove ]; then\n:\n${removed}fi\n[ "$1" = purge ] || exit 0\n${purged}`,
};

function control({ name, depends, replaces, about, scripts, conffiles }, version, tree, arch, folder) {
  const entries = entriesOf(tree);
  const names = replaces.join(', ');
  const lines = [
    `Package: ${name}`,
    `Version: ${version}`,
    `Architecture: ${architectures[arch]}`,
    'Maintainer: The Halite developers <halite@invalid>',
    `Installed-Size: ${Math.ceil(installedSize(entries) / 1024)}`,
    `Depends: ${depends.deb.join(', ').replaceAll('@version@', version)}`,
    ...(names === '' ? [] : [`Conflicts: ${names}`, `Replaces: ${names}`, `Provides: ${names}`]),
    'Section: admin',
    'Priority: optional',
    `Description: ${about}`,
    ' Halite is an independent implementation of Salt: the same commands, files and wire protocol.',
  ];
  writeFileSync(join(folder, 'control'), `${lines.join('\n')}\n`);
  if (conffiles.length > 0) writeFileSync(join(folder, 'conffiles'), `${conffiles.join('\n')}\n`);
  const sums = entries
    .filter(({ stat }) => stat.isFile())
    .map(
      ({ path }) =>
        `${createHash('md5')
          .update(readFileSync(join(tree, path)))
          .digest('hex')}  ${path}`,
    );
  writeFileSync(join(folder, 'md5sums'), `${sums.join('\n')}\n`);
  for (const [hook, text] of Object.entries(hooks)) {
    const found = text(scripts, name);
    if (found) writeFileSync(join(folder, hook), `#!/bin/sh\nset -e\n${found}`, { mode: 0o755 });
  }
}

/** Returns the paths of the packages. */
export function debianPackages({ app, arch, out, seconds, level, version }) {
  const made = [];
  eachPackage(app, (described, tree, scratch) => {
    const folder = join(scratch, 'control');
    mkdirSync(folder, { mode: 0o755 });
    control(described, version, tree, arch, folder);
    // Whatever the umask of who makes them.
    run('chmod', ['-R', 'u+rwX,go+rX,go-w', folder]);
    tarXz(folder, join(scratch, 'control.tar.xz'), seconds, { level });
    tarXz(tree, join(scratch, 'data.tar.xz'), seconds, { level });
    const file = join(out, `${described.name}_${version}_${architectures[arch]}.deb`);
    const read = (part) => [part, readFileSync(join(scratch, part))];
    ar(file, [['debian-binary', Buffer.from('2.0\n')], read('control.tar.xz'), read('data.tar.xz')], seconds);
    made.push(file);
  });
  return made;
}
