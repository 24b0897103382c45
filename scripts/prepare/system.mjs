// Packages of the system, all with one `apt-get install`; the list is packages.json.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isFor, missingItems, remember, timed } from './items.mjs';

const { packages } = JSON.parse(readFileSync(new URL('./packages.json', import.meta.url), 'utf8'));

/** Some programs are in no folder of PATH: those for root, or of one version among several. */
function places() {
  const postgres = '/usr/lib/postgresql';
  return [
    ...(process.env.PATH ?? '').split(delimiter),
    ...['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'],
    ...(existsSync(postgres) ? readdirSync(postgres).map((version) => join(postgres, version, 'bin')) : []),
  ];
}

const isHere = ({ gives }) =>
  gives.startsWith('/') ? existsSync(gives) : places().some((place) => existsSync(join(place, gives)));

// Packages must not start their own services.
const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1', LC_ALL: 'C.UTF-8' };
const patience = ['-q', '-o', 'DPkg::Lock::Timeout=600', '-o', 'Acquire::Retries=3'];

/** Runs a command; its output is in the error when it fails. */
function run(file, args) {
  const done = spawnSync(file, args, { env, encoding: 'utf8', maxBuffer: 1 << 27 });
  if (done.status !== 0)
    throw new Error(`${file} ${args.join(' ')} failed:\n${done.stdout ?? ''}${done.stderr ?? done.error?.message}`);
  return done.stdout;
}

function obstacle() {
  if (!existsSync('/usr/bin/apt-get')) return 'this system is not Debian: there is no apt-get';
  return process.getuid?.() === 0 ? undefined : 'only root may install packages';
}

/** Those of these packages that this distribution has. */
function known(names) {
  const shown = spawnSync('apt-cache', ['show', '--no-all-versions', ...names], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  return new Set([...(shown.stdout ?? '').matchAll(/^Package: (.+)$/gm)].map((match) => match[1]));
}

const itemOf = (entry) => ({ name: `package ${entry.package}`, tiers: entry.tiers, need: 'required' });

/** Installs what these tiers need; packages that are not available are recorded, each with its reason. */
export async function preparePackages(tiers) {
  const wanted = packages.filter((entry) => isFor(entry, tiers));
  const missing = wanted.filter((entry) => !isHere(entry));
  const why = missing.length === 0 ? undefined : (obstacle() ?? (await install(missing.map((entry) => entry.package))));
  for (const entry of wanted) {
    const reason = isHere(entry) ? undefined : (why ?? `this distribution has no package ${entry.package}`);
    if (reason !== missingItems()[`package ${entry.package}`]?.why) remember(itemOf(entry), reason);
  }
}

function install(names) {
  return timed(`packages ${names.join(' ')}`, () => {
    run('apt-get', ['update', ...patience]);
    const had = known(names);
    const present = names.filter((name) => had.has(name));
    if (present.length > 0) run('apt-get', ['install', '-y', ...patience, '--no-install-recommends', ...present]);
  });
}
