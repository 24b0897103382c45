// All targets as programs whose code from src/ counts where it was.
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build, type Plugin, transform } from 'esbuild';
import { instrument } from './instrument.ts';

export interface Bundled {
  /** Texts of the code under test, for each target. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
}

const external = ['zeromq', 'better-sqlite3', 'mysql2', 'pg', 'ioredis', 'mongodb', 'kafkajs', 'nodemailer', 'sucrase'];

function counting(root: string, texts: Map<string, readonly string[]>): Plugin {
  return {
    name: 'counting',
    setup: (bundler) =>
      bundler.onLoad({ filter: /[/]src[/].*\.ts$/ }, async ({ path }) => {
        if (!path.startsWith(join(root, 'src'))) return undefined;
        const { code } = await transform(await readFile(path, 'utf8'), { loader: 'ts', target: 'node20.19' });
        const done = instrument(code);
        texts.set(path.slice(root.length), done.texts);
        return { contents: done.code, loader: 'js' };
      }),
  };
}

/** `names` are files of targets/; their programs and `worker.js` are written to `outdir`. */
export async function bundle(root: string, names: readonly string[], outdir: string): Promise<Bundled> {
  const common = {
    absWorkingDir: root,
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external,
    logLevel: 'warning',
  } as const;
  await build({ ...common, entryPoints: ['test/fuzz/engine/worker.ts'] });
  const fileTexts = new Map<string, readonly string[]>();
  const { metafile } = await build({
    ...common,
    entryPoints: names.map((name) => `test/fuzz/targets/${name}.ts`),
    splitting: true,
    metafile: true,
    plugins: [counting(root, fileTexts)],
  });
  const texts = new Map<string, readonly string[]>();
  for (const [path, output] of Object.entries(metafile.outputs)) {
    if (output.entryPoint) texts.set(basename(path, '.js'), textsOf(metafile.outputs, path, fileTexts));
  }
  return { texts };
}

type Outputs = Record<string, { inputs: Record<string, unknown>; imports: { path: string; kind: string }[] }>;

/** The texts of all files a program is made of, without those it may import later. */
function textsOf(outputs: Outputs, start: string, fileTexts: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const visit = (path: string): void => {
    const output = outputs[path];
    if (!output || seen.has(path)) return;
    seen.add(path);
    for (const input of Object.keys(output.inputs))
      for (const text of fileTexts.get(`/${input}`) ?? []) found.add(text);
    for (const { path: next, kind } of output.imports) if (kind === 'import-statement') visit(next);
  };
  visit(start);
  return [...found].sort();
}
