// `npm run check`: types, lint and format, and the rules of scripts/check/. Run it before every commit. `--rules` runs
// only the rules, `--planted` shows that each check finds the violation planted for it.
import { spawn } from 'node:child_process';
import { writeTable } from './gen-builtin.mjs';
import { writeCalls } from './gen-calls.mjs';
import { installDependencies, root } from './setup.mjs';

/** Checks that are separate programs: name and arguments of node. */
export const checkPrograms = {
  types: ['node_modules/typescript/bin/tsc', '-p', '.'],
  'types of the console': ['node_modules/typescript/bin/tsc', '-p', 'console'],
  'lint and format': ['node_modules/@biomejs/biome/bin/biome', 'check', '--colors=off', '.'],
};

/** Exports of a TypeScript file, bundled in memory. */
export async function load(file) {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  });
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}

/**
 * Where modules cannot be bundled, the type check reports why; calls between functions are then checked as loosely as
 * for users.
 */
export async function prepareTypes() {
  await writeCalls().catch((error) => console.log(`calls between functions are not checked: ${error.message}`));
}

export async function runRules() {
  return (await load('scripts/check/rules.ts')).runRules(root);
}

function runProgram(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  return new Promise((resolve) =>
    child.on('close', (code) => resolve({ ok: code === 0, output: Buffer.concat(output).toString() })),
  );
}

async function main(option) {
  installDependencies(console.log);
  writeTable();
  if (option === '--planted') {
    const missed = (await load('scripts/check/planted.ts')).findUnreported(root);
    console.log(missed.length === 0 ? 'every planted violation is reported' : missed.join('\n'));
    return missed.length === 0;
  }
  if (option !== undefined && option !== '--rules') {
    console.error(`no such option: ${option}. Options: --rules, --planted`);
    process.exit(64);
  }
  await prepareTypes();
  const failed = [];
  const report = (name, ok, output) => {
    console.log(ok ? `ok: ${name}` : `FAILED: ${name}\n${output.trimEnd()}`);
    if (!ok) failed.push(name);
  };
  const programs = option === '--rules' ? [] : Object.entries(checkPrograms);
  await Promise.all(
    programs.map(async ([name, args]) => {
      const { ok, output } = await runProgram(args);
      report(name, ok, output);
    }),
  );
  for (const { name, breaches } of await runRules()) report(name, breaches.length === 0, breaches.join('\n'));
  if (failed.length > 0) console.log(`\n${failed.length} failed: ${failed.join(', ')}`);
  return failed.length === 0;
}

if (process.argv[1]?.endsWith('check.mjs')) process.exit((await main(process.argv[2])) ? 0 : 1);
