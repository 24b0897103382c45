// `npm run fuzz -- --seconds N [--target NAME] [--seed S] [--runs N] [--save]`: all targets, or those whose name begins so.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from './bundle.ts';
import { asciiJson, readCorpus, toText, writeCorpus } from './files.ts';
import type { Outcome } from './loop.ts';
import { supervise } from './supervise.ts';

const root = process.cwd();
const folder = join(root, 'test/fuzz');
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    target: { type: 'string', default: '' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    runs: { type: 'string', default: '' },
    save: { type: 'boolean', default: false },
  },
});
const all = readdirSync(`${folder}/targets`).map((file) => basename(file, '.ts'));
const names = all.includes(values.target) ? [values.target] : all.filter((name) => name.startsWith(values.target));
if (names.length === 0) {
  console.error(`no such target: ${values.target}. Targets: ${all.join(', ')}`);
  process.exit(64);
}
const seed = Number(values.seed);
const atOnce = Math.min(names.length, availableParallelism(), 4);
const secondsEach = (Number(values.seconds) * atOnce) / names.length;
console.log(`fuzz: ${names.length} targets, ${secondsEach.toFixed(1)} s each, seed ${seed}`);

async function fuzz(name: string, outdir: string, tokens: readonly string[]): Promise<Outcome> {
  return await supervise(pathToFileURL(join(outdir, 'worker.js')), {
    module: pathToFileURL(join(outdir, `${name}.js`)).href,
    seed,
    seconds: secondsEach,
    mostRuns: values.runs === '' ? Number.POSITIVE_INFINITY : Number(values.runs),
    corpus: readCorpus(folder, name),
    tokens,
    save: values.save,
  });
}

function say(name: string, outcome: Outcome): void {
  const { executions, reached, places, corpus, finds } = outcome;
  const cells = [executions, `${reached}/${places}`, corpus.length, finds.length];
  console.log(name.padEnd(18) + cells.map((cell) => String(cell).padStart(13)).join(''));
  for (const find of finds) {
    console.log(`  FOUND ${find.what}\n  input ${asciiJson(toText(find.input))}`);
    for (const line of find.stack.split('\n').slice(1, 6)) console.log(`  ${line.trim()}`);
  }
}

// Inside the checkout, so that packages are found.
const outdir = mkdtempSync(join(root, 'dist', 'fuzz-'));
let found = 0;
try {
  const { texts } = await bundle(root, names, outdir);
  console.log(
    `${'target'.padEnd(18)}${['executions', 'places', 'corpus', 'finds'].map((head) => head.padStart(13)).join('')}`,
  );
  const waiting = [...names];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const outcome = await fuzz(name, outdir, texts.get(name) ?? []);
      found += outcome.finds.length;
      if (values.save && outcome.finds.length === 0) writeCorpus(folder, name, outcome.corpus);
      say(name, outcome);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
} finally {
  rmSync(outdir, { recursive: true, force: true });
}
console.log(found === 0 ? 'nothing found' : `${found} found; again with --seed ${seed}`);
process.exit(found === 0 ? 0 : 1);
