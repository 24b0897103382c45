// The installed tree: Node, our programs and libraries in one folder, and commands that start them.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../setup.mjs';
import { billOfMaterials, placeLibraries } from './libraries.mjs';
import { nodeVersion, placeNode } from './node.mjs';

const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
export const ownVersion = own.version;
export const commandNames = Object.keys(own.bin);

/** `folder` becomes what is /usr/lib/halite in a package. */
export function stageApp(arch, folder, seconds) {
  const app = join(folder, 'app');
  mkdirSync(join(app, 'scripts'), { recursive: true });
  placeNode(arch, folder);
  placeLibraries(arch, app);
  cpSync(join(root, 'bin'), join(app, 'bin'), { recursive: true });
  placePrograms(join(root, 'dist'), join(app, 'dist'));
  for (const name of ['make-caches.mjs', 'warm-up.mjs', 'commands.mjs'])
    copyFileSync(join(root, 'scripts', name), join(app, 'scripts', name));
  copyFileSync(join(root, 'package.json'), join(app, 'package.json'));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'sbom.cdx.json'), billOfMaterials(nodeVersion, arch, seconds));
}

/**
 * Of the build what runs. It may have been used: the site and types may lie there, and what Python compiled; code caches and
 * the stamp are of the Node that built.
 */
export function placePrograms(from, to) {
  cpSync(from, to, { recursive: true, filter: (path) => !unpacked.test(relative(from, path)) });
}
const unpacked = /^(?:man|types|site|\.stamp|program-[^/]*|[^/]*\.cache)$|(?:^|\/)__pycache__$/;

/** A command that starts its program with the Node inside. `library`: the staged folder, as the shell finds it. */
export function writeCommand(file, name, library) {
  const lines = [
    '#!/bin/sh',
    `exec "${library}/bin/node" --disable-warning=ExperimentalWarning "${library}/app/bin/${name}" "$@"`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  chmodSync(file, 0o755);
}

/** In an archive that may lie anywhere. */
export function writeMovableCommand(file, name) {
  const here = 'here=$(dirname "$(readlink -f "$0")")';
  writeFileSync(
    file,
    `#!/bin/sh\n${here}\nexec "$here/../lib/halite/bin/node" --disable-warning=ExperimentalWarning "$here/../lib/halite/app/bin/${name}" "$@"\n`,
  );
  chmodSync(file, 0o755);
}

/** `wanted`: chosen by the name of the command. */
export function stageManuals(folder, wanted = () => true) {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(join(root, 'dist/man')).filter((name) => wanted(name.replace(/\.\d$/, ''))))
    copyFileSync(join(root, 'dist/man', name), join(folder, name));
}

export function stageDocs(folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of ['guide', 'reference']) cpSync(join(root, 'docs', name), join(folder, name), { recursive: true });
  for (const name of ['README.md', 'CHANGELOG.md', 'SECURITY.md']) copyFileSync(join(root, name), join(folder, name));
}
