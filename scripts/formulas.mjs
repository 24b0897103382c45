// Compiles every SLS of public formulas with an installed Salt and with this tree, and compares: `node scripts/formulas.mjs <folder of checkouts>`.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadBundled, realAnswers, saltFunctions } from '../test/tools/formulas/answers.mjs';
import { compare } from '../test/tools/formulas/compare.mjs';
import { fileRoot, prepare, slsNames, sourceFiles } from '../test/tools/formulas/inputs.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    salt: { type: 'string', default: join(homedir(), '.cache/halite-test/salt-3006.27') },
    scratch: { type: 'string' },
    grains: { type: 'string', default: '' },
    verbose: { type: 'boolean', default: false },
    sls: { type: 'string' },
    id: { type: 'string' },
    pillars: { type: 'string', default: '' },
    low: { type: 'boolean', default: false },
  },
});
const folder = resolve(positionals[0] ?? '.');
const scratch = resolve(options.scratch ?? `${folder}-work`);
// A proxy setting affects how Salt's http functions fail: both sides run without one.
for (const name of Object.keys(process.env)) if (/_proxy$/i.test(name)) delete process.env[name];
const { openOurs } = await loadBundled('ours');

/** Grains to simulate, as `name=value,name=value`. */
function pretended() {
  const values = Object.fromEntries(
    options.grains
      .split(',')
      .filter(Boolean)
      .map((pair) => pair.split('='))
      .map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]),
  );
  return { name: Object.values(values).join('-').replaceAll('/', '_') || 'own', values };
}

const theirs = {
  states: saltFunctions(options.salt, 'states'),
  functions: saltFunctions(options.salt, 'modules'),
};

/**
 * Functions of Salt that are used but do not exist here: state functions of the low state, execution functions named in
 * templates.
 */
function missingFunctions(root, lows, known) {
  const missing = new Set();
  for (const low of lows) {
    const name = `${low.state}.${low.fun}`;
    if (theirs.states.has(name) && !known.states.has(name)) missing.add(name);
  }
  for (const path of sourceFiles(root)) {
    const text = readFileSync(path, 'utf8');
    for (const [, name] of text.matchAll(/\bsalt\[['"]([a-z_0-9]+\.[a-z_0-9]+)['"]\]/g)) {
      if (theirs.functions.has(name) && !known.functions.has(name)) missing.add(`salt['${name}']`);
    }
  }
  return [...missing].sort();
}

async function knownFunctions(call) {
  const list = async (fun) => new Set(JSON.parse((await call(fun, [])).value).local);
  return { states: await list('sys.list_state_functions'), functions: await list('sys.list_functions') };
}

async function checkFormula(formula) {
  const root = join(folder, formula);
  const chosen = { pillars: options.pillars.split(',').filter(Boolean), lowOnly: options.low, id: options.id };
  const jobs = prepare({ formula, root, folder, scratch, grains: pretended(), ...chosen });
  const real = realAnswers(jobs, { salt: options.salt, scratch, roots: [root] });
  const row = {
    formula,
    sls: slsNames(fileRoot(root)).length,
    pillars: jobs.length,
    calls: 0,
    equal: 0,
    form: 0,
    'both error': 0,
    'other error': 0,
    different: 0,
  };
  const lows = [];
  let call;
  for (const [index, job] of jobs.entries()) {
    rmSync(job.rootDir, { recursive: true, force: true });
    call = await openOurs(job.conf);
    for (const [at, [fun, args]] of job.calls.entries()) {
      if (options.sls !== undefined && args[0] !== options.sls) continue;
      const answer = real[index][at];
      if (fun === 'state.show_low_sls' && answer.value) lows.push(...[JSON.parse(answer.value).local].flat());
      const result = compare(answer, await call(fun, args));
      row.calls++;
      row[result.verdict]++;
      if (result.verdict === 'equal' || (result.verdict === 'both error' && !options.verbose)) continue;
      console.log(`${formula} [${job.pillar}] ${fun} ${args.join(' ')}: ${result.verdict}`);
      for (const line of result.lines) console.log(`    ${line}`);
    }
  }
  row.missing = missingFunctions(root, lows, await knownFunctions(call));
  return row;
}

mkdirSync(scratch, { recursive: true });
const wanted = options.only.split(',').filter(Boolean);
const formulas = readdirSync(folder).filter(
  (name) => !name.startsWith('.') && statSync(join(folder, name)).isDirectory(),
);
const rows = [];
for (const formula of formulas) {
  if (wanted.length > 0 && !wanted.some((name) => formula.startsWith(name))) continue;
  if (!existsSync(join(folder, formula))) continue;
  rows.push(await checkFormula(formula));
}
console.log('\n| formula | SLS | pillars | calls | equal | both error | different | missing functions |');
console.log('|---|---:|---:|---:|---:|---:|---:|---|');
for (const row of rows) {
  const different = row.different + row['other error'] + row.form;
  console.log(
    `| ${row.formula} | ${row.sls} | ${row.pillars} | ${row.calls} | ${row.equal} | ${row['both error']} | ${different} | ${row.missing.join(', ')} |`,
  );
}
process.exit(rows.every((row) => row.different + row['other error'] === 0) ? 0 : 1);
