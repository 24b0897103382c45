// `npm run fuzz`: builds the fuzzer of test/fuzz/ and runs it; its arguments are in docs/fuzzing.md.
import { runProgram } from './program.mjs';

process.exitCode = await runProgram('test/fuzz/engine/main.ts', process.argv.slice(2));
