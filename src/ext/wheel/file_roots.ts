// Wheel `file_roots`: the files of the master's file server, for programs.
import { rootsWheel } from './shared/roots.ts';

export default rootsWheel('file_roots', 'the files that minions are served');
