// Answers of an installed Salt (kept between runs, since it is slow) and of this tree.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { writeTable } from '../../../scripts/gen-builtin.mjs';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

function addFolder(hash, folder) {
  for (const name of readdirSync(folder).sort()) {
    if (name === '.git') continue;
    const path = join(folder, name);
    const status = lstatSync(path);
    hash.update(path);
    if (status.isDirectory()) addFolder(hash, path);
    else if (status.isFile()) hash.update(readFileSync(path));
  }
}

function keyOf(job, salt, roots) {
  const hash = createHash('sha256').update(salt).update(JSON.stringify(job.calls));
  hash.update(readFileSync(join(job.conf, 'minion')));
  addFolder(hash, job.pillarRoot);
  for (const root of roots) addFolder(hash, root);
  hash.update(readFileSync(fileURLToPath(new URL('real-salt.py', import.meta.url))));
  return hash.digest('hex').slice(0, 24);
}

/** What Salt below `salt` answers to each job. */
export function realAnswers(jobs, { salt, scratch, roots }) {
  const cache = join(scratch, 'answers');
  mkdirSync(cache, { recursive: true });
  const paths = jobs.map((job) => join(cache, `${keyOf(job, salt, roots)}.json`));
  const missing = jobs.flatMap((job, index) => (existsSync(paths[index]) ? [] : [{ job, path: paths[index] }]));
  if (missing.length > 0) {
    const [ask, told] = [join(cache, 'ask.json'), join(cache, 'told.json')];
    for (const { job } of missing) rmSync(job.rootDir, { recursive: true, force: true });
    writeFileSync(ask, JSON.stringify(missing.map(({ job }) => job)));
    rmSync(told, { force: true });
    const script = fileURLToPath(new URL('real-salt.py', import.meta.url));
    const done = spawnSync(join(salt, 'bin/python'), [script, ask, told], { encoding: 'utf8', maxBuffer: 1 << 28 });
    if (!existsSync(told)) throw new Error(`Salt gave no answers: ${done.stderr.slice(-2000)}`);
    const answers = JSON.parse(readFileSync(told, 'utf8'));
    missing.forEach(({ path }, index) => {
      writeFileSync(path, JSON.stringify(answers[index]));
    });
  }
  return paths.map((path) => JSON.parse(readFileSync(path, 'utf8')));
}

/** Full names of the functions Salt's own source defines; `kind` is `states` or `modules`. */
export function saltFunctions(salt, kind) {
  const libraries = join(salt, 'lib');
  const python = readdirSync(libraries).find((name) => name.startsWith('python')) ?? '';
  const folder = join(libraries, python, 'site-packages/salt', kind);
  const names = new Set();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.py'))) {
    const text = readFileSync(join(folder, file), 'utf8');
    const module = /^__virtualname__ = ['"](\w+)/m.exec(text)?.[1] ?? file.slice(0, -3);
    for (const [, name] of text.matchAll(/^def ([a-z]\w*)\(/gm)) names.add(`${module}.${name.replace(/_$/, '')}`);
  }
  return names;
}

/** A TypeScript file beside this one, bundled with what it needs of this tree. */
export async function loadBundled(name) {
  const outfile = join(repository, `dist/tools/formulas-${name}-${process.pid}.mjs`);
  writeTable();
  await build({
    absWorkingDir: repository,
    entryPoints: [`test/tools/formulas/${name}.ts`],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile,
    logLevel: 'warning',
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile, { force: true });
  }
}
