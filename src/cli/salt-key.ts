// Command `salt-key`: the keys minions and masters recognise each other by.
import { saltKey } from './key/command.ts';
import { run } from './main.ts';

run(saltKey);
