// Command `salt-cp`: files from the master to minions.
import { saltCp } from './cp/command.ts';
import { run } from './main.ts';

run(saltCp);
