// Builds dist/: daemons and workers share chunks; each command is one file with V8's code cache, so that it starts
// fast.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { writeTable } from './gen-builtin.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The entry points for extensions: `halite/sdk` and its parts, which are its folders that have an index. */
function sdkEntries() {
  const parts = readdirSync(`${root}src/extend/sdk`).filter((name) =>
    existsSync(`${root}src/extend/sdk/${name}/index.ts`),
  );
  return {
    sdk: 'extend/sdk/index.ts',
    ...Object.fromEntries(parts.map((name) => [`sdk/${name}`, `extend/sdk/${name}/index.ts`])),
  };
}

/** Long-lived programs: output name → source file below src/. */
export const programs = {
  'salt-master': 'cli/salt-master.ts',
  'salt-minion': 'cli/salt-minion.ts',
  'job-process': 'minion/jobs/job-process.ts',
  'pillar-worker': 'engine/pillar/worker.ts',
  'store-writer': 'store/sqlite/writer.ts',
  'store-reader': 'store/sqlite/reader.ts',
  'returner-worker': 'master/returners/worker.ts',
  ...sdkEntries(),
  testing: 'testing/index.ts',
};
/**
 * Commands: output name → source file, and arguments of a harmless run that warms their code cache. `{warm}` is a folder
 * with a small tree of states, see writeWarmUp.
 */
export const commands = {
  salt: { file: 'cli/salt.ts', warmUp: ['-c', '/nonexistent', 'x', 'test.ping'] },
  'salt-call': { file: 'cli/salt-call.ts', warmUp: ['--local', '-c', '{warm}', 'state.apply'] },
  'salt-cp': { file: 'cli/salt-cp.ts', warmUp: ['-c', '/nonexistent', 'x', '/dev/null', '/nonexistent'] },
  'salt-key': { file: 'cli/salt-key.ts', warmUp: ['--version'] },
  halite: { file: 'cli/halite.ts', warmUp: ['-c', '/nonexistent', 'doctor'] },
  'salt-run': { file: 'cli/salt-run.ts', warmUp: ['-c', '/nonexistent', 'test.arg'] },
};

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  // Libraries are not bundled: loaded from node_modules on first use.
  external: ['zeromq', 'better-sqlite3', 'mysql2', 'pg', 'ioredis', 'mongodb', 'kafkajs', 'nodemailer', 'sucrase'],
  legalComments: 'none',
  logLevel: 'warning',
};

/** Builds into a new folder and replaces the old result at the end: a failed build changes nothing. */
export async function buildAll() {
  writeTable();
  const fresh = mkdtempSync(`${root}.dist-`);
  try {
    await Promise.all([buildPrograms(fresh), buildCommands(fresh)]);
    copyFileSync(`${root}scripts/launch.cjs`, `${fresh}/launch.cjs`);
    for (const [name, { warmUp }] of Object.entries(commands)) makeCodeCache(fresh, name, warmUp);
    rmSync(`${root}dist`, { recursive: true, force: true });
    renameSync(fresh, `${root}dist`);
    chmodSync(`${root}dist`, 0o755);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function buildPrograms(outdir) {
  return build({
    ...common,
    entryPoints: Object.fromEntries(Object.entries(programs).map(([name, file]) => [name, `src/${file}`])),
    outdir,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    // The text of a program stays in memory while it runs: comments are removed, names stay readable in traces.
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
  });
}

/**
 * CommonJS, because only that can be compiled from V8's cache; lazily imported files are included and run on demand.
 */
function buildCommands(outdir) {
  return build({
    ...common,
    entryPoints: Object.fromEntries(Object.entries(commands).map(([name, { file }]) => [name, `src/${file}`])),
    outdir,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    // A script from the code cache cannot `import()`: libraries are required, URLs go through base/util/import-url.ts.
    supported: { 'dynamic-import': false },
    minifySyntax: true,
    minifyWhitespace: true,
    define: { 'import.meta.url': '__bundleUrl' },
    charset: 'ascii',
    banner: {
      js: "(function (exports, require, module, __filename, __dirname) {const __bundleUrl = require('node:url').pathToFileURL(__filename).href;",
    },
    footer: { js: '})' },
  });
}

/** Typical states: their code should be in the cache for state runs. They change nothing outside the folder. */
const warmUpStates = `{% set out = pillar['out'] %}
{% for name in ['a', 'b'] %}
{{ out }}/{{ name }}.conf:
  file.managed:
    - source: salt://{{ name }}.txt
    - makedirs: True
    - mode: '0644'
    - require:
      - test: start
{% endfor %}
{{ out }}/template:
  file.managed:
    - source: salt://template.j2
    - template: jinja
    - context: {text: {{ grains['os'] | lower | yaml_dquote }}}
    - watch_in:
      - cmd: after
{{ out }}/old:
  file.managed:
    - contents: new
{{ out }}/folder:
  file.directory:
    - makedirs: True
after:
  cmd.run:
    - name: 'true'
    - onlyif: test -e /
start:
  test.nop: []
`;

function writeWarmUp(folder) {
  const write = (path, text) => writeFileSync(join(folder, path), text);
  for (const name of ['srv', 'pillar', 'out']) mkdirSync(join(folder, name));
  const roots = [`file_roots: {base: ['${folder}/srv']}`, `pillar_roots: {base: ['${folder}/pillar']}`];
  write('minion', ['id: warm', 'file_client: local', `root_dir: ${folder}/root`, ...roots, ''].join('\n'));
  write('pillar/top.sls', 'base:\n  "*": [data]\n');
  write('pillar/data.sls', `out: ${folder}/out\n`);
  write('srv/top.sls', 'base:\n  "*": [states]\n');
  write('srv/states.sls', warmUpStates);
  for (const name of ['a', 'b']) write(`srv/${name}.txt`, `${name}\n`);
  write('srv/template.j2', '{% if text %}{{ text }}{% endif %}\n');
  // One file exists already, so that comparing and printing a difference are in the cache too.
  write('out/a.conf', 'a\n');
  write('out/old', 'old\n');
}

function makeCodeCache(folder, name, warmUp) {
  const warm = mkdtempSync(join(tmpdir(), 'halite-warm-'));
  try {
    writeWarmUp(warm);
    const env = { ...process.env, HALITE_MAKE_CODE_CACHE: `${root}dist`, NO_COLOR: '1' };
    const code = `process.argv[1] = '${name}'; require(${JSON.stringify(`${folder}/launch.cjs`)})('${name}')`;
    const args = warmUp.map((word) => word.replace('{warm}', warm));
    spawnSync(process.execPath, ['-e', code, name, ...args], { cwd: root, env, timeout: 60_000 });
  } finally {
    rmSync(warm, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll();
