// Command `halite`: the doctor, and explanations.
import { halite } from './halite/command.ts';
import { run } from './main.ts';

run(halite);
