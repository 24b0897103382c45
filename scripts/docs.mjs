// `npm run docs`: writes the reference pages that are generated from the code.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from './check.mjs';
import { root } from './setup.mjs';

const { generatedPages } = await load('scripts/docs/pages.ts');
for (const [path, text] of Object.entries(generatedPages(root))) {
  writeFileSync(join(root, path), text);
  console.log(`wrote ${path}`);
}
