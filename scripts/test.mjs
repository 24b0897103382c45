// `npm test`: set-up, checks, every tier; ends with one line that counts. Arguments name tiers: npm test -- unit integration
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWhenNeeded, installDependencies, root } from './setup.mjs';

const tiers = ['unit', 'integration', 'stories', 'backends', 'interop'];
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => ![...tiers, 'check'].includes(name));
if (unknown.length > 0) {
  console.error(`no such tier: ${unknown.join(', ')}. Tiers: check, ${tiers.join(', ')}`);
  process.exit(64);
}
const required = process.env.HALITE_REQUIRE_ALL === '1';
const counts = { passed: 0, failed: 0, skipped: 0 };
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
  console.log(`   ${ok ? 'ok' : 'FAILED'}: ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

/** One vitest project; its JSON report is what is counted, so nothing can be lost between the lines. */
function tier(name) {
  const folder = mkdtempSync(join(tmpdir(), 'halite-report-'));
  const report = join(folder, 'report.json');
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    name,
    '--passWithNoTests',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ];
  const done = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'));
    counts.passed += result.numPassedTests;
    counts.failed += result.numFailedTests;
    counts.skipped += result.numPendingTests + result.numTodoTests;
    // A file that could not even be loaded has no tests to count.
    if (done.status !== 0 && result.numFailedTests === 0) counts.failed += Math.max(1, result.numFailedTestSuites);
  } catch {
    console.error(`${name}: the test runner left no report`);
    counts.failed++;
  }
  rmSync(folder, { recursive: true, force: true });
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
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);
