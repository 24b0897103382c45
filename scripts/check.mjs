// `npm run check`: types, lint and unit tests; what to run before every commit.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./test.mjs', import.meta.url));
process.exit(spawnSync(process.execPath, [script, 'check', 'unit'], { stdio: 'inherit' }).status ?? 1);
