// `npm run site -- [folder]`: the documentation as a site of static pages, in dist/site. It needs no server.

import { writeTable } from './gen-builtin.mjs';
import { withBundle } from './load-builtin.mjs';
import { installDependencies, root } from './setup.mjs';

installDependencies(console.error);
writeTable();
process.exitCode = await withBundle('scripts/site/main.ts', ({ run }) => run(root, process.argv.slice(2)));
