// Command `salt-fleet`: plays many minions, to measure a master.
import { saltFleet } from './fleet/command.ts';
import { run } from './main.ts';

run(saltFleet);
