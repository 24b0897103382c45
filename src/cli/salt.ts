// Command `salt`, a function on any number of minions.
import { run } from './main.ts';
import { salt } from './salt/command.ts';

run(salt);
