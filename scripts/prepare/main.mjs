// `npm run prepare-tests [tier…]`: everything that the tests need in addition, created once and in order before the
// first test. Test workers install nothing: they check, and skip with the reason that was found here.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildWhenNeeded, installDependencies, root } from '../setup.mjs';
import { isFor, prepare, tableOfMissing, testCache } from './items.mjs';
import { preparePackages } from './system.mjs';
import { tiers as allTiers } from './tiers.mjs';

const self = fileURLToPath(import.meta.url);

/** Runs this program for these tiers; two runs wait for each other. True when it finished. */
export function prepareTests(tiers) {
  mkdirSync(testCache, { recursive: true });
  const lock = join(testCache, 'prepare.lock');
  const command = [process.execPath, self, '--locked', ...tiers];
  const isFree = spawnSync('flock', ['--nonblock', lock, 'true']);
  if (isFree.error) return spawnSync(command[0], command.slice(1), { stdio: 'inherit' }).status === 0;
  if (isFree.status !== 0) console.log('   another run prepares; waiting for it');
  return spawnSync('flock', [lock, ...command], { stdio: 'inherit' }).status === 0;
}

/** The items that are written in TypeScript, next to the tests that use them. */
async function testItems() {
  const { build } = await import('esbuild');
  const outfile = join(root, 'node_modules/.cache', `halite-prepare-${process.pid}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: ['test/support/prepare.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
  });
  try {
    return (await import(pathToFileURL(outfile).href)).items;
  } finally {
    rmSync(outfile, { force: true });
  }
}

async function prepareAll(tiers) {
  const say = (text) => console.log(`   ${text}`);
  await preparePackages(tiers);
  installDependencies(say);
  buildWhenNeeded(say);
  for (const item of await testItems()) if (isFor(item, tiers)) await prepare(item);
}

if (process.argv[1] === self) {
  const [first, ...rest] = process.argv.slice(2);
  if (first === '--locked') await prepareAll(rest);
  else {
    const tiers = first === undefined ? allTiers : [first, ...rest];
    const done = prepareTests(tiers);
    for (const line of tableOfMissing(tiers)) console.log(`   ${line}`);
    process.exitCode = done ? 0 : 1;
  }
}
