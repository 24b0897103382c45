// Execution module `cp`: files from the file server, from the web, from `salt-cp`, and to the master.
import { defineModule } from 'halite/sdk';
import { cacheFunctions } from './cache.ts';
import { getFunctions } from './get.ts';
import { listFunctions } from './lists.ts';
import { pushFunctions } from './push.ts';
import { receiveFunctions } from './receive.ts';

export default defineModule({
  name: 'cp',
  doc: 'Copies files: from the master’s file server and other addresses to the minion, and from the minion to the master.',
  reads: [
    'get_file_str',
    'cache_file',
    'cache_files',
    'cache_dir',
    'cache_master',
    'cache_local_file',
    'cache_dest',
    'is_cached',
    'list_minion',
    'envs',
    'list_master',
    'list_master_dirs',
    'list_master_symlinks',
    'list_states',
    'hash_file',
    'stat_file',
  ],
  functions: { ...receiveFunctions, ...getFunctions, ...cacheFunctions, ...listFunctions, ...pushFunctions },
});
