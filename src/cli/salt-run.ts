// Command `salt-run`: a function that runs on the master.
import { run } from './main.ts';
import { saltRun } from './run/command.ts';

run(saltRun);
