// The libraries of Halite without those of development, for one processor: as the lock file names them, without their
// install scripts. SQLite comes from the Node inside.
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { run } from './run.mjs';

export function placeLibraries(arch, folder) {
  const scratch = mkdtempSync(join(tmpdir(), 'halite-libraries-'));
  try {
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(root, name), join(scratch, name));
    const options = [
      '--omit=dev',
      '--omit=optional',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    // Not `npm ci`: see installDependencies in setup.mjs.
    run('npm', ['install', '--no-save', ...options], { cwd: scratch });
    const libraries = join(scratch, 'node_modules');
    keepOnly(join(libraries, 'zeromq/build'), 'linux');
    keepOnly(join(libraries, 'zeromq/build/linux'), arch);
    rmSync(join(libraries, '.package-lock.json'), { force: true });
    run('cp', ['-a', libraries, join(folder, 'node_modules')]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Of the folders below this one. */
function keepOnly(folder, name) {
  if (!existsSync(join(folder, name))) throw new Error(`${folder} has nothing for ${name}`);
  for (const other of readdirSync(folder, { withFileTypes: true }))
    if (other.isDirectory() && other.name !== name) rmSync(join(folder, other.name), { recursive: true });
}

/** A software bill of materials (CycloneDX 1.5): the same text for the same input. */
export function billOfMaterials(nodeVersion, arch, seconds) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const libraries = Object.entries(lock.packages)
    .filter(([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional)
    .map(([path, { version, license, integrity }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return component({ name, version, license, integrity });
    })
    // The same version may lie in several folders; the list has each once.
    .filter((one, at, all) => all.findIndex(({ purl }) => purl === one.purl) === at)
    .sort((one, other) => (one.purl < other.purl ? -1 : 1));
  const node = component({ name: 'node', version: nodeVersion, license: 'MIT', type: 'platform' });
  return `${JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      version: 1,
      metadata: {
        timestamp: new Date(seconds * 1000).toISOString(),
        component: { type: 'application', name: own.name, version: own.version },
        properties: [{ name: 'halite:architecture', value: arch }],
      },
      components: [node, ...libraries],
    },
    undefined,
    2,
  )}\n`;
}

function component({ name, version, license, integrity, type = 'library' }) {
  const hash = /^sha512-(.+)$/.exec(integrity ?? '')?.[1];
  return {
    type,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license ? { licenses: [{ license: { name: license } }] } : {}),
    ...(hash ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }] } : {}),
  };
}
