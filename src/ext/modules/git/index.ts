// Execution module `git`: repositories and checkouts.
import { defineModule } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { configFunctions } from './config.ts';
import { readingFunctions } from './reading.ts';
import { worktreeFunctions } from './worktrees.ts';
import { writingFunctions } from './writing.ts';

export default defineModule({
  name: 'git',
  doc: 'Git repositories and checkouts.',
  available: () => which('git') !== null || 'The git execution module cannot be loaded: git unavailable.',
  functions: { ...readingFunctions, ...writingFunctions, ...worktreeFunctions, ...configFunctions },
});
