// `npm run bench [-- <name> [options…]]`: builds, then runs a benchmark of test/bench/ (default: foundation) as one bundled program.
import { runProgram } from './program.mjs';

process.exitCode = await runProgram(`test/bench/${process.argv[2] ?? 'foundation'}.ts`, process.argv.slice(3));
