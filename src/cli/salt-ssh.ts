// Command `salt-ssh`: functions on hosts over SSH.
import { run } from './main.ts';
import { saltSsh } from './ssh/command.ts';

run(saltSsh);
