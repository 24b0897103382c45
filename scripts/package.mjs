// `npm run package`: packages for Debian and RPM systems, a movable archive and an image for containers, with their own
// Node, for each processor; the same bytes for the same commit. `--out FOLDER`, `--arch x64,arm64`, `--formats
// deb,rpm,tar,oci`, `--base FOLDER|TAR` (the system inside the image), `--level 0…9` (of xz), `--sign KEY` (of gpg),
// `--release-version VERSION` (instead of that in package.json).
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { debianPackages } from './package/debian.mjs';
import { movableArchive } from './package/movable.mjs';
import { ociImage } from './package/oci.mjs';
import { rpmPackages } from './package/rpm.mjs';
import { run } from './package/run.mjs';
import { ownVersion, stageApp } from './package/stage.mjs';
import { buildWhenNeeded, installDependencies, root } from './setup.mjs';

const text = (fallback) => ({ type: 'string', default: fallback });
const { values } = parseArgs({
  options: {
    ...{ out: text('packages'), arch: text('x64,arm64'), formats: text('deb,rpm,tar'), level: text('6') },
    ...{ sign: { type: 'string' }, base: { type: 'string' }, 'release-version': text(ownVersion) },
  },
});
const formats = values.formats.split(',');
const makers = { deb: debianPackages, rpm: rpmPackages, tar: movableArchive, oci: ociImage };
const unknown = formats.filter((name) => !Object.hasOwn(makers, name));
if (unknown.length > 0)
  throw new Error(`no such format: ${unknown.join(', ')}. Formats: ${Object.keys(makers).join(', ')}`);
if (formats.includes('oci') && values.base === undefined)
  throw new Error('--base is missing: a folder or a tar with the system that the image begins with');
const version = values['release-version'];
// A dash ends the version in the names and rules of both formats; what comes before a release has a tilde: 1.0.0~rc1.
if (!/^\d[\w.~+]*$/.test(version)) throw new Error(`${version} is no version of a package`);
if (!/^\d$/.test(values.level)) throw new Error(`--level is 0 to 9, not ${values.level}`);

installDependencies(console.error);
buildWhenNeeded(console.error);
/** The time in all archives: of the commit, so that it does not depend on when they are made. */
const seconds = Number(
  process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct'], { cwd: root }).trim(),
);
const out = resolve(values.out);
mkdirSync(out, { recursive: true });
const made = [];
for (const arch of values.arch.split(',')) {
  const app = mkdtempSync(join(tmpdir(), 'halite-app-'));
  try {
    stageApp(arch, app, seconds);
    const { base, sign } = values;
    const plan = { app, arch, out, seconds, version, base, sign, level: Number(values.level) };
    for (const name of formats) made.push(...[makers[name](plan)].flat());
    const bill = join(out, `halite-${version}-linux-${arch}.cdx.json`);
    copyFileSync(join(app, 'sbom.cdx.json'), bill);
    made.push(bill);
  } finally {
    rmSync(app, { recursive: true, force: true });
  }
}
const sums = made.map((file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}`);
writeFileSync(join(out, 'SHA256SUMS'), `${sums.sort().join('\n')}\n`);
if (values.sign)
  run('gpg', ['--batch', '--yes', '--local-user', values.sign, '--armor', '--detach-sign', join(out, 'SHA256SUMS')]);
for (const file of made) console.log(file);
