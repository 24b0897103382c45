// Execution module `saltutil`: jobs, extensions, caches and keys of the minion.
import { defineModule } from 'halite/sdk';
import { jobFunctions } from './jobs.ts';
import { masterFunctions } from './master-side.ts';
import { refreshFunctions, syncFunctions } from './sync.ts';

export default defineModule({
  name: 'saltutil',
  doc: 'Manages jobs, extensions, caches and keys of the minion.',
  reads: ['running', 'is_running', 'find_job', 'find_cached_job', 'list_extmods'],
  functions: { ...jobFunctions, ...syncFunctions, ...refreshFunctions, ...masterFunctions },
});
