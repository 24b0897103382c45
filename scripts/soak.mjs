// `npm run soak -- --minutes N`: see test/soak/main.ts and docs/fuzzing.md.
import { runProgram } from './program.mjs';

process.exitCode = await runProgram('test/soak/main.ts', process.argv.slice(2));
