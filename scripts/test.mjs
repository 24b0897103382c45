// `npm test`: set-up, preparation, checks, every tier; ends with one line of counts. Arguments name tiers: npm test --
// unit integration
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, setPriority, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { checkPrograms, prepareTypes, runRules } from './check.mjs';
import { isFor, missingItems, tableOfMissing } from './prepare/items.mjs';
import { prepareTests } from './prepare/main.mjs';
import { tiers } from './prepare/tiers.mjs';
import { root } from './setup.mjs';

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => ![...tiers, 'check', 'fuzz'].includes(name));
if (unknown.length > 0) {
  console.error(`no such tier: ${unknown.join(', ')}. Tiers: check, fuzz, ${tiers.join(', ')}`);
  process.exit(64);
}
const chosen = tiers.filter((name) => asked.length === 0 || asked.includes(name));
const withChecks = asked.length === 0 || asked.includes('check');
// A user of `npm start` in this terminal has these set; tests use the defaults.
for (const name of ['SALT_CONFIG_DIR', 'SALT_MASTER_CONFIG', 'SALT_MINION_CONFIG']) delete process.env[name];
const required = process.env.HALITE_REQUIRE_ALL === '1';
const counts = { passed: 0, failed: 0, skipped: 0 };
const skippedIn = {};
/** Failures, repeated at the very end: logs of long runs are read from there. */
const failures = [];
const say = (text) => console.log(`\n== ${text}`);
const since = (started) => `${((Date.now() - started) / 1000).toFixed(1)} s`;

function fail(text) {
  counts.failed++;
  failures.push(text);
}

/** A program next to the tests; its output is printed when it has ended, so that it is not mixed with theirs. */
function check(name, args, niceness = 0) {
  const started = Date.now();
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  if (niceness > 0 && child.pid) setPriority(child.pid, niceness);
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => output.push(piece));
  return new Promise((resolve) =>
    child.on('close', (code) => {
      if (code === 0) counts.passed++;
      else fail(`${name}\n${Buffer.concat(output).toString()}`);
      console.log(`   ${code === 0 ? 'ok' : 'FAILED'}: ${name} (${since(started)})`);
      resolve();
    }),
  );
}

/** `test/<tier>/…`; unit tests are next to the tested files, and faults need the servers of the backends. */
function tierOf(file) {
  const folder = /^test\/([^/]+)\//.exec(relative(root, file))?.[1];
  if (folder === 'faults') return 'backends';
  return tiers.includes(folder) ? folder : 'unit';
}

/** The failed tests of one file, each with the beginning of its message. */
function failuresOf(file) {
  const short = (message) => message.split('\n').slice(0, 12).join('\n    ').slice(0, 1500);
  const where = `${tierOf(file.name)} ${relative(root, file.name)}`;
  const failed = file.assertionResults.filter(({ status }) => status === 'failed');
  // A file that could not be loaded has no tests to count.
  if (failed.length === 0 && file.status === 'failed') return [`${where}\n    ${short(file.message ?? '')}`];
  return failed.map(
    ({ fullName, failureMessages }) => `${where} > ${fullName}\n    ${short(failureMessages.join('\n'))}`,
  );
}

/**
 * All Vitest projects at once: tests that wait for daemons leave the CPU to those that compute. The counts come from
 * the JSON report, so that nothing is lost.
 */
async function runVitest(projects) {
  const folder = mkdtempSync(join(tmpdir(), 'halite-report-'));
  const report = join(folder, 'report.json');
  // Files with daemons of ours use a third of a processor each: the rest of their time they wait.
  const more = projects.some((name) => name !== 'unit') ? 3 : 0;
  const workers = Math.min(4, Math.max(2, availableParallelism())) + more;
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...projects.map((name) => `--project=${name}`),
    '--passWithNoTests',
    `--maxWorkers=${workers}`,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ];
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  const status = await new Promise((resolve) => child.on('close', resolve));
  try {
    return { ok: status === 0, files: JSON.parse(readFileSync(report, 'utf8')).testResults };
  } catch {
    return { ok: false, files: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Counts a report, tier by tier. */
function count({ ok, files }) {
  const failedBefore = counts.failed;
  const byTier = new Map(chosen.map((name) => [name, { passed: 0, failed: 0, skipped: 0, seconds: 0 }]));
  for (const file of files) {
    const tier = byTier.get(tierOf(file.name));
    tier.seconds += (file.endTime - file.startTime) / 1000;
    for (const { status } of file.assertionResults)
      if (status !== 'failed') tier[status === 'passed' ? status : 'skipped']++;
    for (const failure of failuresOf(file)) {
      tier.failed++;
      fail(failure);
    }
  }
  for (const [name, { passed, failed, skipped, seconds }] of byTier) {
    counts.passed += passed;
    counts.skipped += skipped;
    skippedIn[name] = skipped;
    console.log(
      `   ${name}: passed ${passed}, failed ${failed}, skipped ${skipped} (${seconds.toFixed(0)} s of files)`,
    );
  }
  const slowest = files
    .map(({ name, startTime, endTime }) => ({ name: relative(root, name), seconds: (endTime - startTime) / 1000 }))
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, 25);
  console.log('   the slowest files:');
  for (const { name, seconds } of slowest) console.log(`   ${seconds.toFixed(0).padStart(5)} s ${name}`);
  if (!ok && counts.failed === failedBefore) fail('the test runner failed outside of any test');
}

const beginning = Date.now();
say('preparation');
if (!prepareTests(asked.length === 0 ? tiers : asked)) {
  console.error('The preparation failed.');
  process.exit(1);
}
console.log(`   ${since(beginning)}`);
const started = Date.now();
if (withChecks) {
  say('checks');
  await prepareTypes();
  await Promise.all(Object.entries(checkPrograms).map(([name, args]) => check(name, args)));
  for (const { name, breaches } of await runRules()) {
    if (breaches.length === 0) counts.passed++;
    else fail(`${name}\n${breaches.join('\n')}`);
    console.log(`   ${breaches.length === 0 ? 'ok' : 'FAILED'}: ${name}`);
  }
}
// The fuzzers use the time in which tests wait for daemons.
const withFuzz = asked.length === 0 || asked.includes('fuzz');
say([...(withFuzz ? ['fuzz, a minute, seed 1'] : []), ...chosen].join(', '));
const fuzzed = withFuzz ? check('fuzz', ['scripts/fuzz.mjs', '--seconds', '60', '--seed', '1'], 5) : undefined;
if (chosen.length > 0) count(await runVitest(chosen));
await fuzzed;
console.log(`   ${since(started)} without the preparation`);

const table = tableOfMissing(chosen);
if (table.length > 0) say(`not available here\n${table.join('\n')}`);
if (required) {
  const missing = Object.entries(missingItems());
  for (const [name, item] of missing)
    if (item.need === 'required' && isFor(item, chosen)) fail(`${name} is required here: ${item.why}`);
  // A tier that lacks something that only some machines have may skip tests; the table lists which and why.
  const excused = chosen.filter((tier) => missing.some(([, item]) => item.need !== 'required' && isFor(item, [tier])));
  const unexcused = chosen.filter((tier) => !excused.includes(tier)).reduce((sum, tier) => sum + skippedIn[tier], 0);
  if (unexcused > 0) fail(`${unexcused} tests were skipped although everything is required here`);
}
for (const failure of failures) console.log(`\nFAILED ${failure}`);
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);
