// `npm run docs`: writes the reference pages that are made from the code.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './setup.mjs';

const { outputFiles } = await build({
  stdin: { contents: "export { renderOptionsPage } from './src/base/config/docs.ts';", resolveDir: root, loader: 'ts' },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
});
const { renderOptionsPage } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`
);
for (const daemon of ['master', 'minion']) {
  const file = `docs/reference/${daemon}-options.md`;
  writeFileSync(join(root, file), renderOptionsPage(daemon));
  console.log(`wrote ${file}`);
}
