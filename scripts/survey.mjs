// `npm run survey -- [options] folder…`: which functions checked-out state trees use, and which trees Halite supports
// completely.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './setup.mjs';
import { implemented } from './survey/implemented.mjs';
import { mergeNames, namesFromSalt, packNames, readNames } from './survey/salt-names.mjs';
import { surveyTree } from './survey/survey-tree.mjs';
import { wholeSection } from './survey/whole.mjs';

const usage = `usage: node scripts/survey.mjs [--list file] [--salt-python python]... [--write] folder...
  folder         one checked-out repository each, its name owner+name; outside this repository
  --list         lines "formula|tree owner/name commit": the kind and commit of each
  --salt-python  a Python with Salt installed: renews the list of Salt's functions first
  --write        keep the counts as test/fixtures/usage/survey.json, for npm run coverage-table`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'string' },
    'salt-python': { type: 'string', multiple: true },
    write: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help || positionals.length === 0) {
  console.log(usage);
  process.exit(values.help ? 0 : 1);
}

const namesFile = join(root, 'src/cli/halite/migrate/check/salt-names.json');
if (values['salt-python']) {
  writeFileSync(namesFile, packNames(mergeNames(values['salt-python'].map(namesFromSalt))));
}
const names = readNames(namesFile);
const listed = new Map(
  (values.list ? readFileSync(values.list, 'utf8') : '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/\s+/))
    .map(([kind, name, commit]) => [name, { kind, commit }]),
);

/** Sorted, so that the stored file changes only where a count did. */
const sorted = (counts) => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));

const repositories = positionals
  .map((folder) => {
    const name = basename(folder).replace('+', '/');
    const { states, modules, python, unresolved, sls } = surveyTree(folder, names);
    const { kind = 'tree', commit = '' } = listed.get(name) ?? {};
    return { name, kind, commit, sls, python, unresolved, states: sorted(states), modules: sorted(modules) };
  })
  .sort((a, b) => a.kind.localeCompare(b.kind) || (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));

if (values.write) {
  const lines = repositories.map((one) => ` ${JSON.stringify(one)}`).join(',\n');
  writeFileSync(join(root, 'test/fixtures/usage/survey.json'), `{"repositories":[\n${lines}\n]}\n`);
  console.log(`wrote test/fixtures/usage/survey.json: ${repositories.length} repositories`);
} else {
  console.log(wholeSection({ repositories, about: [] }, await implemented()).join('\n'));
}
