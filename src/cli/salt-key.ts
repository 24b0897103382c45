// Command `salt-key`: the keys with which minions and masters authenticate each other.
import { saltKey } from './key/command.ts';
import { run } from './main.ts';

run(saltKey);
