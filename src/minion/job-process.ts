// The program of job processes: what runs jobs, with the state engine at hand.
import { startJobProcess } from '../engine/exec/job-process.ts';
import { provideMaster } from '../engine/exec/orchestration.ts';
import { provideStates } from '../engine/state/provide.ts';

startJobProcess({ states: provideStates, master: provideMaster });
