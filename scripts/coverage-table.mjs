// `npm run coverage-table`: which of the functions people use exist here, from the code and from counts over public repositories.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { writeTable } from './gen-builtin.mjs';
import { root } from './setup.mjs';

/** Only on systems Halite does not run on, or removed from Salt long ago. */
const elsewhere = new Set(['chocolatey', 'reg', 'win_servermanager', 'lgpo', 'macpackage', 'sysrc', 'win_wua']);

/** Every function the loader knows, by kind. */
async function implemented() {
  writeTable();
  // Inside the checkout, so that packages are found.
  const folder = mkdtempSync(join(root, '.dist-coverage-'));
  try {
    await build({
      absWorkingDir: root,
      stdin: {
        contents: "export { builtin } from './src/extend/loader/builtin.gen.ts';",
        resolveDir: root,
        loader: 'ts',
      },
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      entryNames: 'table',
      bundle: true,
      splitting: true,
      packages: 'external',
      alias: { 'halite/sdk': join(root, 'src/extend/sdk/index.ts') },
      format: 'esm',
      platform: 'node',
      logLevel: 'warning',
    });
    const { builtin } = await import(pathToFileURL(join(folder, 'table.mjs')).href);
    return { states: await names(builtin.states), modules: await names(builtin.modules) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function names(table) {
  const found = new Set();
  for (const [file, entry] of Object.entries(table)) {
    const module = (await entry.load()).default;
    const prefix = entry.virtualName ?? module.virtualName ?? module.name ?? file;
    const own = [...Object.keys(module.functions), ...Object.keys(module.aliases ?? {})];
    for (const name of own) for (const start of new Set([prefix, module.name])) found.add(`${start}.${name}`);
  }
  return found;
}

const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
const sum = (rows, key) => rows.reduce((total, row) => total + row[key], 0);

function measure({ ranking, cumulative, uses }, have) {
  const missing = ranking.filter(({ name }) => !have.has(name));
  const complete = ranking.findIndex(({ name }) => !have.has(name));
  const full = complete === -1 ? ranking.length : complete;
  const listed = sum(ranking, 'uses');
  const covered = listed - sum(missing, 'uses');
  const top = ranking.filter((_, index) => index < 120);
  const gaps = top.filter(({ name }) => !have.has(name));
  const whole = cumulative.find(({ first }) => first === 120)?.wholeRepos ?? 0;
  return { missing, full, covered, listed, uses, top: top.length - gaps.length, gaps, whole };
}

function section(title, data, have) {
  const m = measure(data, have);
  const rows = data.cumulative
    .filter(({ first }) => first <= data.ranking.length)
    .map(({ first, usesPercent, wholeRepos }) => {
      const head = data.ranking.slice(0, first);
      const there = head.filter(({ name }) => have.has(name));
      const lost = sum(head, 'repos') - sum(there, 'repos');
      return `| ${first} | ${there.length} | ${usesPercent} % | ${percent(sum(there, 'uses'), data.uses)} | ${wholeRepos} | ${Math.max(0, wholeRepos - lost)} |`;
    });
  const missing = m.missing.map(({ name, repos, uses }) => {
    const note = elsewhere.has(name.split('.')[0]) ? ' (not on Linux)' : '';
    return `| ${data.ranking.findIndex((row) => row.name === name) + 1} | \`${name}\`${note} | ${repos} | ${uses} |`;
  });
  return [
    `## ${title}`,
    '',
    `${have.size} functions exist. Of the ${data.ranking.length} functions listed by name, ${data.ranking.length - m.missing.length} exist: ${percent(m.covered, m.uses)} of all ${m.uses} uses counted (the listed ones make ${percent(m.listed, m.uses)}).`,
    `Without a gap up to rank ${m.full}.`,
    '',
    '| first N | of these here | share of uses of the first N | share here | whole repositories with the first N | at least, here |',
    '|---:|---:|---:|---:|---:|---:|',
    ...rows,
    '',
    ...(missing.length > 0
      ? ['Missing:', '', '| rank | function | repositories | uses |', '|---:|---|---:|---:|', ...missing]
      : ['None of the listed functions is missing.']),
    '',
  ];
}

const ranking = JSON.parse(readFileSync(join(root, 'test/fixtures/usage/ranking.json'), 'utf8'));
const have = await implemented();
const page = [
  '# Coverage of what people use',
  '',
  'Made by `npm run coverage-table` from the functions of the loader and from counts over 220 public repositories',
  '(`test/fixtures/usage/ranking.json`). Which functions each single repository uses is not part of the counts: the',
  'number of repositories served whole is therefore known for the first N functions of the ranking, and the last column',
  'is a lower bound: every repository that uses a missing function of these N is taken off, each as if it used only one,',
  'and functions behind rank N are not counted for anybody.',
  '',
  ...section('State functions', ranking.states, have.states),
  ...section('Execution functions', ranking.modules, have.modules),
];
mkdirSync(join(root, 'docs/reference'), { recursive: true });
writeFileSync(join(root, 'docs/reference/coverage.md'), page.join('\n'));
for (const [name, data] of [
  ['states', ranking.states],
  ['modules', ranking.modules],
]) {
  const m = measure(data, have[name]);
  console.log(`${name}: ${percent(m.covered, m.uses)} of uses, ${m.top} of the first 120, no gap up to rank ${m.full}`);
  console.log(`  missing: ${m.missing.map((row) => `${row.name} (${row.repos})`).join(', ') || 'none'}`);
}
console.log('wrote docs/reference/coverage.md');
