// Command `salt-call`: a function on this machine.
import { saltCall } from './call/command.ts';
import { run } from './main.ts';

run(saltCall);
