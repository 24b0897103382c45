// Builds the console into dist/console/: bundles with hashed names, compressed once here and not for every reader.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const common = {
  bundle: true,
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  // Browsers of the last two years: the oldest with AbortSignal.any.
  target: ['es2022', 'chrome117', 'firefox125', 'safari17.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  metafile: true,
  loader: { '.svg': 'file' },
};

/** The name of the one output of an entry point. */
const outputOf = ({ outputs }, entry) => {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry);
  if (!found) throw new Error(`the console's build made nothing of ${entry}`);
  return { file: basename(found[0]), css: found[1].cssBundle && basename(found[1].cssBundle) };
};

export async function buildConsole(root, outdir) {
  const assets = join(outdir, 'console/assets');
  mkdirSync(assets, { recursive: true });
  const shared = { ...common, absWorkingDir: root, outdir: assets, entryNames: '[name]-[hash]' };
  const worker = await build({ ...shared, entryPoints: ['console/live/worker.ts'], format: 'iife' });
  const app = await build({
    ...shared,
    entryPoints: ['console/main.tsx'],
    format: 'esm',
    splitting: true,
    chunkNames: '[name]-[hash]',
    define: { __liveWorker: JSON.stringify(outputOf(worker.metafile, 'console/live/worker.ts').file) },
  });
  const { file, css } = outputOf(app.metafile, 'console/main.tsx');
  const icon = copyHashed(join(root, 'console/style/icon.svg'), assets);
  const page = readFileSync(join(root, 'console/index.html'), 'utf8')
    .replace('{script}', `assets/${file}`)
    .replace('{style}', `assets/${css}`)
    .replace('{icon}', `assets/${icon}`);
  writeFileSync(join(outdir, 'console/index.html'), page);
  for (const name of readdirSync(assets)) compress(join(assets, name));
}

function copyHashed(from, folder) {
  const bytes = readFileSync(from);
  const [stem, end] = basename(from).split('.');
  const name = `${stem}-${createHash('sha256').update(bytes).digest('hex').slice(0, 8)}.${end}`;
  writeFileSync(join(folder, name), bytes);
  return name;
}

function compress(path) {
  const bytes = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
}
