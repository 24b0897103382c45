// Set-up shared by `npm start` and `npm test`: dependencies and build, each only when something changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const [major, minor] = process.versions.node.split('.').map(Number);

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

/** Content hash of the files that determine whether dependencies or bundles are current. */
function stampOf(paths, more = '') {
  const hash = createHash('sha256').update(process.version).update(more);
  for (const path of paths) hash.update(path).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

function isCurrent(marker, stamp) {
  const file = join(root, marker);
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

function mark(marker, stamp) {
  writeFileSync(join(root, marker), stamp);
}

/** What is installed depends only on these: another script or description has no effect. */
function dependenciesStamp() {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const lock = existsSync(join(root, 'package-lock.json')) ? ['package-lock.json'] : [];
  return stampOf(lock, JSON.stringify([dependencies, optionalDependencies, devDependencies]));
}

export function installDependencies(say = () => {}) {
  if (major < 20 || (major === 20 && minor < 19)) fail(`Halite needs Node 20.19 or newer; this is ${process.version}.`);
  const stamp = dependenciesStamp();
  if (isCurrent('node_modules/.halite-stamp', stamp)) return;
  say('installing dependencies (first time only; a compiler may run for a minute or two)');
  // Not `npm ci`: it refuses a lock file made on another platform, whose optional packages it does not name.
  const done = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    env: { ...process.env, ...ownHeaders() },
  });
  const said = `${done.stdout ?? ''}${done.stderr ?? done.error ?? ''}`;
  if (done.status !== 0) fail(`npm could not install the dependencies:\n${said}`);
  if (!hasSqlite())
    fail(
      `better-sqlite3 could not be installed, and this Node has no SQLite of its own. It needs a compiler where no built one fits (Debian: apt-get install build-essential python3), or Node 22.13.\n${said}`,
    );
  mark('node_modules/.halite-stamp', stamp);
}

/** Add-ons are compiled with the headers of this Node, if present; otherwise headers are downloaded. */
function ownHeaders() {
  const folder = dirname(dirname(process.execPath));
  return existsSync(join(folder, 'include/node/node.h')) ? { npm_config_nodedir: folder } : {};
}

/** An optional package: npm does not report that it could not be built. */
function hasSqlite() {
  if (major > 22 || (major === 22 && minor >= 13)) return true;
  try {
    const Database = createRequire(join(root, 'package.json'))('better-sqlite3');
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

function sources() {
  const list = (folder, ends = /\.(ts|mjs)$/) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => `${folder}/${name}`)
      .filter(
        (path) =>
          ends.test(path) &&
          !path.endsWith('.test.ts') &&
          !path.endsWith('.gen.ts') &&
          statSync(join(root, path)).isFile(),
      );
  return ['package.json', ...list('src'), ...list('scripts'), ...list('console', /\.(tsx?|css|html|svg)$/)].sort();
}

/** In a separate process: esbuild keeps a service running as long as the process that used it. */
export function buildWhenNeeded(say = () => {}) {
  const stamp = stampOf(sources());
  if (isCurrent('dist/.stamp', stamp)) return;
  say('building');
  const done = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { cwd: root, encoding: 'utf8' });
  if (done.status !== 0) fail(`the build failed:\n${done.stdout ?? ''}${done.stderr ?? done.error}`);
  mkdirSync(join(root, 'dist'), { recursive: true });
  mark('dist/.stamp', stamp);
}
