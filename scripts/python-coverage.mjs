// `npm run python-coverage -- [options] folder…`: loads the Python extensions of checked-out repositories in Halite and in real
// Salt, and compares what both make of each file.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram } from './program.mjs';
import { root } from './setup.mjs';
import { scenesOf } from './survey/extension-files.mjs';
import { compareFile, coveragePage } from './survey/extension-page.mjs';

const usage = `usage: node scripts/python-coverage.mjs --salt-python python [--list file] [--write] [--json file] folder...
  folder         one checked-out repository each, its name owner+name; outside this repository
  --salt-python  a Python with Salt installed; Halite uses the same one, so that both find the same libraries
  --list         lines "owner/name commit"
  --write        write docs/reference/python-coverage.md; else print it
  --json         keep every file's results`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'salt-python': { type: 'string' },
    list: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
const executable = values['salt-python'];
if (values.help || positionals.length === 0 || !executable) {
  console.log(usage);
  process.exit(values.help ? 0 : 1);
}

const work = mkdtempSync(join(tmpdir(), 'halite-python-coverage-'));
try {
  const found = positionals.flatMap(scenesOf);
  const scenes = found.map(({ kinds }, at) => sceneIn(join(work, String(at)), kinds));
  const files = { scenes: join(work, 'scenes.json'), halite: join(work, 'halite.json'), salt: join(work, 'salt.json') };
  const asked = { executable, etc: join(work, 'etc'), scenes };
  writeFileSync(files.scenes, JSON.stringify(asked));
  const code = await runProgram('test/bench/python-files.ts', [files.scenes, files.halite]);
  if (code !== 0) process.exit(code);
  const halite = JSON.parse(readFileSync(files.halite, 'utf8'));
  writeFileSync(files.scenes, JSON.stringify({ ...asked, grains: halite.grains }));
  const program = join(root, 'scripts/survey/extension-files.py');
  execFileSync(executable, [program, files.scenes, files.salt], {
    stdio: 'inherit',
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const salt = JSON.parse(readFileSync(files.salt, 'utf8'));
  const names = found.flatMap(({ repository, root: place, kinds }) =>
    kinds.flatMap(({ kind, folder, files: listed }) =>
      listed.map(({ stem, path }) => ({ repository, kind, stem, file: join(place, basename(folder), basename(path)) })),
    ),
  );
  const rows = names.map((name, at) => compareFile(name, halite.results[at], salt.results[at]));
  if (values.json) writeFileSync(values.json, JSON.stringify(rows, undefined, 1));
  const commits = values.list ? readFileSync(values.list, 'utf8') : '';
  const page = coveragePage(rows, { release: salt.version, python: salt.python, commits: commitsOf(commits) });
  if (values.write) writeFileSync(join(root, 'docs/reference/python-coverage.md'), page);
  else console.log(page);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The folders as they lie below `extension_modules` after a sync. */
function sceneIn(folder, kinds) {
  mkdirSync(join(folder, 'ext'), { recursive: true });
  for (const { kind, folder: target } of kinds) symlinkSync(target, join(folder, 'ext', kind));
  const files = kinds.flatMap(({ kind, files: listed }) => listed.map(({ stem }) => [kind, stem]));
  return { folder: join(folder, 'ext'), cache: join(folder, 'cache'), files };
}

function commitsOf(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return new Map(lines.map((line) => line.trim().split(/\s+/)).map(([name, commit]) => [name, commit.slice(0, 12)]));
}
