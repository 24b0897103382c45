// `npm test`: set-up, checks, every tier; ends with one line that counts. Arguments name tiers: npm test -- unit integration
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { buildWhenNeeded, installDependencies, root } from './setup.mjs';

const tiers = ['unit', 'integration', 'stories', 'backends', 'old-minions', 'interop'];
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => ![...tiers, 'check'].includes(name));
if (unknown.length > 0) {
  console.error(`no such tier: ${unknown.join(', ')}. Tiers: check, ${tiers.join(', ')}`);
  process.exit(64);
}
// Whoever plays with `npm start` in this terminal has these set; tests are about the defaults.
for (const name of ['SALT_CONFIG_DIR', 'SALT_MASTER_CONFIG', 'SALT_MINION_CONFIG']) delete process.env[name];
const required = process.env.HALITE_REQUIRE_ALL === '1';
const counts = { passed: 0, failed: 0, skipped: 0 };
/** What failed, to be said again at the very end: logs of long runs are read from there. */
const failures = [];
/** What failed once and was tried again. */
const secondTries = [];
const mostSecondTries = 3;
const say = (text) => console.log(`\n== ${text}`);

function step(name, file, args) {
  const started = Date.now();
  const done = spawnSync(file, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, npm_config_update_notifier: 'false' },
  });
  const ok = done.status === 0;
  counts[ok ? 'passed' : 'failed']++;
  if (!ok) failures.push(name);
  console.log(`   ${ok ? 'ok' : 'FAILED'}: ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

/** The failed tests of one file, each with the beginning of its message. */
function failuresOf(tierName, file) {
  const short = (message) => message.split('\n').slice(0, 12).join('\n    ').slice(0, 1500);
  const where = `${tierName} ${relative(root, file.name)}`;
  const failed = file.assertionResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0 && file.status === 'failed') return [`${where}\n    ${short(file.message ?? '')}`];
  return failed.map(
    ({ fullName, failureMessages }) => `${where} > ${fullName}\n    ${short(failureMessages.join('\n'))}`,
  );
}

/** One vitest project, or some of its files; its JSON report is what is counted, so nothing can be lost between the lines. */
function runVitest(name, files) {
  const folder = mkdtempSync(join(tmpdir(), 'halite-report-'));
  const report = join(folder, 'report.json');
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', name, '--passWithNoTests'];
  // Tests with real daemons mostly wait for them: one more at a time than there are processors.
  const workers = Math.min(4, Math.max(2, availableParallelism())) + (name === 'unit' ? 0 : 1);
  args.push(
    `--maxWorkers=${workers}`,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...files,
  );
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  try {
    return { ok: status === 0, files: JSON.parse(readFileSync(report, 'utf8')).testResults };
  } catch {
    return { ok: false, files: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A failed file gets one more try, alone: a machine that stood still for a while is not a
 * fault of the code. It is said at the end, so that a test that needs this often is seen.
 */
function secondTry(name, result) {
  const failed = result.files.filter(({ status }) => status === 'failed');
  if (failed.length === 0 || failed.length > mostSecondTries) return result;
  say(`${name}: second try of ${failed.map(({ name: file }) => relative(root, file)).join(', ')}`);
  secondTries.push(...failed.flatMap((file) => failuresOf(name, file)));
  const again = runVitest(
    name,
    failed.map(({ name: file }) => relative(root, file)),
  );
  return { ok: again.ok, files: [...result.files.filter(({ status }) => status !== 'failed'), ...again.files] };
}

function tier(name) {
  const result = secondTry(name, runVitest(name, []));
  const failedBefore = counts.failed;
  for (const file of result.files) {
    for (const { status } of file.assertionResults) {
      counts[status === 'passed' || status === 'failed' ? status : 'skipped']++;
    }
    const found = failuresOf(name, file);
    failures.push(...found);
    // A file that could not even be loaded has no tests to count.
    if (found.length > 0 && file.assertionResults.every(({ status }) => status !== 'failed')) counts.failed++;
  }
  if (result.ok || counts.failed > failedBefore) return;
  failures.push(`${name}: the test runner failed outside of any test`);
  counts.failed++;
}

installDependencies(say);
await buildWhenNeeded(say);
if (asked.length === 0 || asked.includes('check')) {
  say('checks');
  step('types', process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.']);
  step('lint and format', process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'check', '.']);
}
for (const name of tiers) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  say(name);
  tier(name);
}
if (required && counts.skipped > 0) {
  console.error(`\n${counts.skipped} tests were skipped although everything is required here.`);
  counts.failed += counts.skipped;
}
for (const failure of secondTries) console.log(`\nTRIED TWICE ${failure}`);
for (const failure of failures) console.log(`\nFAILED ${failure}`);
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);
