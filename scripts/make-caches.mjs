// Makes the code caches of an installed Halite, with the Node that will run it: run by the package after its installation.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commands } from './commands.mjs';
import { makeCodeCache } from './warm-up.mjs';

const dist = join(dirname(fileURLToPath(import.meta.url)), '../dist');
for (const [name, { warmUp }] of Object.entries(commands)) await makeCodeCache(dist, dist, name, warmUp);
