// What is asked of one formula: its SLS files, and a minion configuration for each pillar it brings.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

const skipped = /^(\..*|test|tests|docs|bin|node_modules|pillar|pillars|_pillar)$/;

function* walk(folder, skip) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (skip?.test(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path, undefined);
    else yield path;
  }
}

/** Names of all SLS below a file root, as `include` would name them. */
export function slsNames(root) {
  const files = [...walk(root, skipped)].map((path) => relative(root, path)).filter((path) => path.endsWith('.sls'));
  const names = files.map((path) =>
    path
      .replace(/\.sls$/, '')
      .replace(/\/init$/, '')
      .replaceAll('/', '.'),
  );
  return [...new Set(names)].filter((name) => name !== 'top' && name !== 'init');
}

/** Every file that may hold templates, for looking up which functions they call. */
export function sourceFiles(root) {
  return [...walk(root, skipped)].filter((path) => {
    const status = statSync(path, { throwIfNoEntry: false });
    return status?.isFile() && status.size < 500_000;
  });
}

/** Folders of other formulas this one's own test configuration asks for: beside it, or in `.dependencies` there. */
function dependencies(root, folder) {
  const kitchen = join(root, 'kitchen.yml');
  if (!existsSync(kitchen)) return [];
  const found = new Set();
  const text = readFileSync(kitchen, 'utf8');
  for (const [, name, key, value] of text.matchAll(/^ +- name: (\S+)\n +(path|repo): (\S+)/gm)) {
    const candidates =
      key === 'path'
        ? [join(root, value)]
        : [folder, join(folder, '.dependencies')].map((place) => join(place, `${name}-formula`));
    for (const candidate of candidates) if (existsSync(candidate)) found.add(candidate);
  }
  return [...found];
}

/** A file with the same name twice at its top is refused by Salt; in two files both count. */
function splitAtRepeated(text) {
  const seen = new Set();
  for (const found of text.matchAll(/^([\w-]+):/gm)) {
    if (seen.has(found[1])) return [text.slice(0, found.index), text.slice(found.index)];
    seen.add(found[1]);
  }
  return undefined;
}

/** The pillars a formula brings: name → texts of files for all minions, or the folder of a top file. */
export function pillarSets(root) {
  const sets = new Map([['none', {}]]);
  const example = join(root, 'pillar.example');
  if (existsSync(example)) {
    const text = readFileSync(example, 'utf8');
    sets.set('example', { 'data.sls': text });
    const parts = splitAtRepeated(text);
    if (parts) sets.set('example-split', { 'data.sls': parts[0], 'more.sls': parts[1] });
  }
  const files = [...walk(root)].filter((path) => path.endsWith('.sls') && isPillarFolder(dirname(path)));
  const name = (path) => relative(root, path).replace(/\.sls$/, '');
  const tops = files.filter((path) => basename(path) === 'top.sls');
  for (const path of tops) sets.set(name(path), { folder: dirname(path) });
  // The pillar of a whole tree counts as one; files of a test suite count one by one.
  const single = files.length > 12 ? [] : files.filter((path) => basename(path) !== 'top.sls');
  for (const path of single) sets.set(name(path), { 'data.sls': readFileSync(path, 'utf8') });
  return sets;
}

const isPillarFolder = (path) => /\/((test_)?pillars?|pillar\/(dev|base))$/.test(path);

/** Where the states of a repository lie: a formula's own folder, or the folder of a tree's top file. */
export function fileRoot(root) {
  const places = ['srv/salt', 'salt', 'states', 'saltstack/salt', 'saltstack/states'];
  return places.map((place) => join(root, place)).find((place) => existsSync(join(place, 'top.sls'))) ?? root;
}

function writePillar(target, set) {
  rmSync(target, { recursive: true, force: true });
  if (set.folder) {
    cpSync(set.folder, target, { recursive: true });
    return;
  }
  mkdirSync(target, { recursive: true });
  const names = Object.keys(set);
  for (const name of names) writeFileSync(join(target, name), set[name]);
  const lines = names.map((name) => `    - ${name.replace(/\.sls$/, '')}\n`);
  if (lines.length > 0) writeFileSync(join(target, 'top.sls'), `base:\n  '*':\n${lines.join('')}`);
}

/** Writes configuration and pillar for each set; gives the jobs to answer. */
export function prepare({ formula, root, folder, scratch, grains, pillars, exact, lowOnly, id }) {
  const tree = fileRoot(root);
  const names = slsNames(tree);
  const extra = [join(root, '.travis/minion'), join(root, 'test/salt/minion')]
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8').replace(/^(master|id|file_|pillar_).*$/gm, ''));
  const jobs = [];
  const sets = [...pillarSets(root)];
  const chosen = sets.filter(([name]) => pillars.some((part) => (exact ? name === part : name.includes(part))));
  for (const [pillar, files] of chosen.length > 0 ? chosen : sets) {
    const home = join(scratch, formula, `${grains.name}-${pillar.replaceAll('/', '-')}`);
    const pillarRoot = join(home, 'pillar');
    writePillar(pillarRoot, files);
    const conf = {
      id: id ?? 'formula-check',
      root_dir: join(home, 'root'),
      file_client: 'local',
      log_level: 'quiet',
      log_level_logfile: 'quiet',
      pillar_roots: { base: [pillarRoot] },
      file_roots: { base: [tree, ...dependencies(root, folder)] },
      ...(Object.keys(grains.values).length === 0 ? {} : { grains: grains.values }),
    };
    mkdirSync(join(home, 'conf'), { recursive: true });
    const lines = Object.entries(conf).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
    writeFileSync(join(home, 'conf/minion'), [...extra, ...lines, ''].join('\n'));
    const calls = [['pillar.items', []]];
    for (const name of names) {
      if (!lowOnly) calls.push(['state.show_sls', [name]]);
      calls.push(['state.show_low_sls', [name]]);
    }
    if (existsSync(join(tree, 'top.sls'))) {
      for (const what of ['top', 'highstate', 'lowstate']) calls.push([`state.show_${what}`, []]);
    }
    jobs.push({ formula, pillar, conf: join(home, 'conf'), rootDir: join(home, 'root'), pillarRoot, calls });
  }
  return jobs;
}
