// Builds dist/: daemons and workers share chunks; each command is one file with V8's code cache, so that it starts
// fast.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildConsole } from './build-console.mjs';
import { commands } from './commands.mjs';
import { writeTable } from './gen-builtin.mjs';
import { makeCodeCache } from './warm-up.mjs';

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
  'salt-api': 'cli/salt-api.ts',
  'salt-fleet': 'cli/salt-fleet.ts',
  'salt-syndic': 'cli/salt-syndic.ts',
  'salt-proxy': 'cli/salt-proxy.ts',
  'job-process': 'minion/jobs/job-process.ts',
  'proxy-process': 'minion/proxy/process.ts',
  'fleet-part': 'fleet/part.ts',
  'ssh-served': 'ssh/served.ts',
  'pillar-worker': 'engine/pillar/worker.ts',
  'store-writer': 'store/sqlite/writer.ts',
  'store-reader': 'store/sqlite/reader.ts',
  'returner-worker': 'master/returners/worker.ts',
  ...sdkEntries(),
  testing: 'testing/index.ts',
};
/** Programs of salt-ssh: the one that its targets run, which is sent there, and the one that answers ssh. */
const remotes = { 'ssh-job': 'minion/ssh/job.ts', 'ssh-askpass': 'ssh/askpass-program.ts' };

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  // Libraries are not bundled: loaded from node_modules on first use.
  external: [
    ...['zeromq', 'better-sqlite3', 'mysql2', 'pg', 'ioredis', 'mongodb', 'kafkajs', 'nodemailer', 'sucrase'],
    ...['@nats-io/transport-node', 'bcryptjs', 'ldapts'],
  ],
  legalComments: 'none',
  logLevel: 'warning',
};

/** Builds into a new folder and replaces the old result at the end: a failed build changes nothing. */
export async function buildAll() {
  writeTable();
  const fresh = mkdtempSync(`${root}.dist-`);
  try {
    await Promise.all([
      buildPrograms(fresh),
      buildCommands(fresh),
      buildConsole(root, fresh),
      buildRemotes(fresh),
      buildRemoteSdk(fresh),
    ]);
    copyFileSync(`${root}scripts/launch.cjs`, `${fresh}/launch.cjs`);
    copyPython(`${root}python`, `${fresh}/python`);
    for (const [name, { warmUp }] of Object.entries(commands)) await makeCodeCache(fresh, `${root}dist`, name, warmUp);
    writeManPages(fresh);
    rmSync(`${root}dist`, { recursive: true, force: true });
    renameSync(fresh, `${root}dist`);
    chmodSync(`${root}dist`, 0o755);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** The worker and the package `salt` for users' Python; what Python compiled meanwhile stays behind. */
function copyPython(from, to) {
  cpSync(from, to, { recursive: true, filter: (path) => !path.includes('__pycache__') });
}

/** `npm install -g` puts them where man finds them. */
function writeManPages(folder) {
  const code = `process.argv[1] = 'halite'; require(${JSON.stringify(`${folder}/launch.cjs`)})('halite')`;
  const words = ['-c', '/nonexistent', 'manual-pages', `${folder}/man`];
  const { status, stderr } = spawnSync(process.execPath, ['-e', code, 'halite', ...words], { cwd: root });
  if (status !== 0) throw new Error(`the manual pages could not be written: ${stderr}`);
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
async function buildCommands(outdir) {
  await build({
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
      js: `(function (exports, require, module, __filename, __dirname) {const __bundleUrl = require('node:url').pathToFileURL(__filename).href;${lazyBuiltin}`,
    },
    footer: { js: '})' },
  });
  for (const name of Object.keys(commands)) {
    const file = `${outdir}/${name}.cjs`;
    writeFileSync(
      file,
      // Only what our files import by name: what a library requires may be a function.
      readFileSync(file, 'latin1').replace(/\b(import_\w+)=require\("(node:[a-z_/]+)"\)/g, '$1=__builtin("$2")'),
      'latin1',
    );
  }
}

/** One file each, as small as possible, without libraries: nothing is installed where they run. */
function buildRemotes(outdir) {
  return build({
    ...common,
    external: common.external.filter((name) => name !== 'sucrase'),
    entryPoints: Object.fromEntries(Object.entries(remotes).map(([name, file]) => [name, `src/${file}`])),
    outdir,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    minify: true,
    keepNames: true,
    define: { 'import.meta.url': '__bundleUrl' },
    banner: { js: "const __bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  });
}

/** The SDK for extensions of users on targets. */
function buildRemoteSdk(outdir) {
  return build({
    ...common,
    entryPoints: Object.fromEntries(Object.entries(sdkEntries()).map(([name, file]) => [name, `src/${file}`])),
    outdir: `${outdir}/ssh-sdk`,
    splitting: true,
    chunkNames: 'sdk/chunks/[name]-[hash]',
    format: 'esm',
    minify: true,
    keepNames: true,
  });
}

/**
 * A bundle requires at its start what any of its files imports, and loading `node:crypto` or `node:child_process` alone
 * takes milliseconds: modules of Node are loaded when something in them is first used.
 */
const lazyBuiltin =
  'const __builtin = (name) => { let found; return new Proxy({}, { get: (_, key) => (found ??= require(name))[key] }); };';

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll();
