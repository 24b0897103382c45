// Job path 1/9 · from the shell · to engine/client/local.ts: command `salt`, a function on any number of minions.
import { run } from './main.ts';
import { salt } from './salt/command.ts';

run(salt);
