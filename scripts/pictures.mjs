// `npm run pictures -- <folder>`: pictures of every page of the console; `-- --guide` renews those of the guide.
import { runProgram } from './program.mjs';

process.exitCode = await runProgram('test/tools/console-pictures.ts', process.argv.slice(2));
