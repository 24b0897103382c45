// `npm run coverage-table`: which of the functions people use exist here, from the code and from counts over public repositories.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';
import { implemented } from './survey/implemented.mjs';
import { measureWhole, notOnLinux, wholeSection } from './survey/whole.mjs';

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

function section(title, kind, data, have) {
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
    const note = notOnLinux({ kind, name }) ? ' (not on Linux)' : '';
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

const fixture = (name) => JSON.parse(readFileSync(join(root, 'test/fixtures/usage', name), 'utf8'));
const ranking = fixture('ranking.json');
const survey = fixture('survey.json');
const have = await implemented();
const about = [
  'The same repositories one by one, at the commit given: which functions of Salt each of them uses was read by',
  '`node scripts/survey.mjs --write` (see there) into `test/fixtures/usage/survey.json`. A function counts when Salt',
  "3006.27 or 3008.2 defines it (`src/cli/halite/migrate/check/salt-names.json`); functions of a repository's own are set aside.",
  'State functions are those declared, in any form and in any branch of the Jinja; execution functions those called from',
  'Jinja or named by `module.run`, `module.wait`, `salt.function`, `fun:` and slots. A repository is whole when each of',
  'them exists here, and whole on Linux when only functions of other systems are missing.',
  '',
  'To survey again: check the repositories out side by side, each in a folder `owner+name`, anywhere outside this one,',
  'and run `node scripts/survey.mjs --list list.txt --write folder/*`, where list.txt has lines',
  '`formula owner/name commit` or `tree owner/name commit`; then `npm run coverage-table`. Without `--write` the chapter',
  'below is printed for whatever trees are named.',
];
const page = [
  '# Coverage of what people use',
  '',
  'Made by `npm run coverage-table` from the functions of the loader, from counts over 220 public repositories',
  '(`test/fixtures/usage/ranking.json`), and from a survey of the same repositories one by one. The first two chapters go',
  'by the ranking: their last column is a lower bound, for every repository that uses a missing function of the first N is',
  'taken off, each as if it used only one. The last chapter counts whole repositories exactly.',
  '',
  ...section('State functions', 'states', ranking.states, have.states),
  ...section('Execution functions', 'modules', ranking.modules, have.modules),
  ...wholeSection({ ...survey, about }, have),
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
const whole = measureWhole(
  survey.repositories.filter(({ states }) => Object.keys(states).length > 0),
  have,
);
console.log(`whole repositories: ${whole.both} of ${whole.repositories}; on Linux ${whole.linux}`);
console.log('wrote docs/reference/coverage.md');
