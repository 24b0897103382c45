// Counts which functions of Salt one checked-out repository uses.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { calledFromJinja, declarations, namedByConditions, namedByStates, pythonSls } from './sls-reader.mjs';

const skipped = new Set(['.git', '.github', 'test', 'tests', 'doc', 'docs', 'node_modules', 'kitchen', 'spec']);
const extensions =
  /(^|\/)_(modules|states|grains|runners|renderers|utils|pillar|tops|engines|beacons|returners|proxy)\//;
const largest = 1_000_000;

/** Files of a tree below the root, in a fixed order; links are skipped, because they may lead outside. */
function* filesOf(folder, under = '') {
  const items = readdirSync(join(folder, under), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const item of items) {
    const path = under === '' ? item.name : `${under}/${item.name}`;
    if (item.isDirectory() && !skipped.has(item.name)) yield* filesOf(folder, path);
    else if (item.isFile()) yield path;
  }
}

const add = (counts, names) => {
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
};

function readSls(text, uses, names) {
  const isState = (name) => names.states.has(name);
  const isFunction = (name) => names.modules.has(name);
  if (/^#!\s*\S*\bpy\b/.test(text)) {
    const found = pythonSls(text, isState, isFunction);
    add(uses.states, found.states);
    add(uses.modules, found.modules);
    uses.python = true;
    return;
  }
  if (/^#!.*\b(pydsl|pyobjects|mako|genshi)\b/.test(text)) uses.python = true;
  const { found, unresolved } = declarations(text, isState);
  uses.unresolved += unresolved;
  add(
    uses.states,
    found.map(({ fun }) => fun),
  );
  add(uses.modules, namedByStates(found, isFunction));
  add(uses.modules, namedByConditions(text, isFunction));
}

/** What one tree uses: counts by function, whether it needs Python, how many names Jinja chooses. */
export function surveyTree(folder, names) {
  const uses = { states: new Map(), modules: new Map(), python: false, unresolved: 0, sls: 0 };
  for (const path of filesOf(folder)) {
    if (extensions.test(`/${path}`)) {
      if (path.endsWith('.py')) uses.python = true;
      continue;
    }
    if (path.endsWith('.py') || statSync(join(folder, path)).size > largest) continue;
    const text = readFileSync(join(folder, path), 'utf8');
    if (text.includes('\0')) continue;
    if (/\.(sls|jinja|j2|jinja2|macros?)$/.test(path)) readSls(text, uses, names);
    if (path.endsWith('.sls')) uses.sls += 1;
    add(
      uses.modules,
      calledFromJinja(text, (name) => names.modules.has(name)),
    );
  }
  return uses;
}
