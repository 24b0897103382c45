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
  reads: [
    'version',
    'current_branch',
    'revision',
    'rev_parse',
    'describe',
    'diff',
    'is_worktree',
    'list_branches',
    'list_tags',
    'ls_remote',
    'remote_refs',
    'remotes',
    'remote_get',
    'merge_base',
    'status',
    'list_worktrees',
    'config_get',
    'config_get_regexp',
    'config_get_regex',
  ],
  functions: { ...readingFunctions, ...writingFunctions, ...worktreeFunctions, ...configFunctions },
});
