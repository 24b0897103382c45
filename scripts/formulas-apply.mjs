// Applies formulas in disposable systems with an installed Salt and with this tree, and compares verdicts and changes: `node scripts/formulas-apply.mjs <folder of checkouts> formula:pillar:sls,sls …`.
// With `--ssh` both are of this tree: a minion alone (`salt-call --local`), and salt-ssh.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadBundled } from '../test/tools/formulas/answers.mjs';
import { prepare } from '../test/tools/formulas/inputs.mjs';
import { changedIn, compareRuns } from '../test/tools/formulas/verdicts.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    salt: { type: 'string', default: join(homedir(), '.cache/halite-test/salt-3006.27') },
    scratch: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    ssh: { type: 'boolean', default: false },
  },
});
const [first = '.', ...wanted] = positionals;
const repository = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(first);
const scratch = resolve(options.scratch ?? `${folder}-work`);
const { applyThrice, downloadPackages } = await loadBundled('apply');
const { openOurs } = await loadBundled('ours');

/** Packages that the states will install, so that they are available without a network. */
async function packageNames(conf, sls) {
  const call = await openOurs(conf);
  const names = new Set();
  for (const name of sls) {
    const answer = await call('state.show_low_sls', [name]);
    const lows = answer.value ? JSON.parse(answer.value).local : [];
    for (const low of lows) {
      if (low.state !== 'pkg' || !['installed', 'latest'].includes(low.fun)) continue;
      for (const item of low.pkgs ?? [low.name]) names.add(typeof item === 'string' ? item : Object.keys(item)[0]);
    }
  }
  return [...names];
}

/** Salt's own three runs are cached: they take most of the time. */
async function kept(path, work) {
  if (existsSync(path) && !options.fresh) return JSON.parse(readFileSync(path, 'utf8'));
  const value = await work();
  writeFileSync(path, JSON.stringify(value, null, 1));
  return value;
}

async function applyOne(word) {
  const [formula, pillar, list] = word.split(':');
  const sls = list.split(',');
  const root = join(folder, formula);
  const choice = { pillars: [pillar], exact: true, lowOnly: true, grains: { name: 'apply', values: {} } };
  const [job] = prepare({ formula, root, folder, scratch, ...choice });
  const packages = join(scratch, 'packages', formula);
  downloadPackages(await packageNames(job.conf, sls), packages);
  rmSync(job.rootDir, { recursive: true, force: true });
  const request = { conf: job.conf, sls, packages, visible: [folder, scratch, options.salt] };
  const key = `${formula}-${pillar}-${list}`.replaceAll(/[^\w.-]/g, '_');
  mkdirSync(join(scratch, 'applied'), { recursive: true });
  const own = { ...request, saltCall: join(repository, 'bin/salt-call') };
  const theirs = () => applyThrice({ ...request, saltCall: join(options.salt, 'bin/salt-call') });
  const real = options.ssh ? await applyThrice(own) : await kept(join(scratch, 'applied', `${key}.json`), theirs);
  const ours = await applyThrice({ ...own, overSsh: options.ssh });
  writeFileSync(join(scratch, 'applied', `${key}.ours.json`), JSON.stringify(ours, null, 1));
  const counts = { states: 0, verdicts: 0, changes: 0, comments: 0, refused: 0 };
  const lines = ['test', 'apply', 'again'].flatMap((name, index) =>
    compareRuns(real[index], ours[index], name, counts),
  );
  const [second, theirSecond] = [changedIn(ours[2]), changedIn(real[2])];
  return {
    word,
    counts,
    lines,
    states: Array.isArray(ours[1]) ? 0 : Object.keys(ours[1]).length,
    changed: changedIn(ours[1]).length,
    second,
    theirSecond,
  };
}

const rows = [];
for (const word of wanted) {
  const row = await applyOne(word);
  console.log(`${word}:`);
  for (const line of row.lines) console.log(`  ${line}`);
  for (const tag of row.second)
    console.log(`  again changes: ${tag}${row.theirSecond.includes(tag) ? " (Salt's too)" : ''}`);
  const { counts } = row;
  rows.push(
    `| ${word.replaceAll(':', ' | ')} | ${row.states} | ${row.changed} | ${counts.verdicts} | ${counts.changes} | ${counts.comments} | ${row.second.length} / ${row.theirSecond.length} |`,
  );
}
console.log(
  '\n| formula | pillar | SLS | states | changed | other verdicts | other changes | other comments | changes in second run, ours / Salt |',
);
console.log('|---|---|---|---:|---:|---:|---:|---:|---:|');
console.log(rows.join('\n'));
