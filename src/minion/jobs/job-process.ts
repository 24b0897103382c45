// The program of job processes: runs jobs, including the state engine, beacons, and engines.
import { provideBeacons } from '../../engine/beacons/provide.ts';
import { provideEngine } from '../../engine/engines/provide.ts';
import { startJobProcess } from '../../engine/exec/job-process.ts';
import { provideMaster } from '../../engine/exec/orchestration.ts';
import { provideStates } from '../../engine/state/provide.ts';

startJobProcess({ states: provideStates, master: provideMaster, beacons: provideBeacons, engine: provideEngine });
