// Execution module `file`: files and folders of the minion.
import { defineModule } from 'halite/sdk';
import { attributeFunctions } from './attributes.ts';
import { backupFunctions } from './backups.ts';
import { blockFunctions } from './block.ts';
import { contentFunctions } from './content.ts';
import { deviceFunctions } from './devices.ts';
import { findFunctions } from './find.ts';
import { hashFunctions } from './hashes.ts';
import { lineFunctions } from './line.ts';
import { managedFunctions } from './managed.ts';
import { moveFunctions } from './moves.ts';
import { ownershipFunctions } from './ownership.ts';
import { permsFunctions } from './perms.ts';
import { replaceFunctions } from './replace.ts';
import { sourceFunctions } from './sources.ts';
import { statFunctions } from './stats.ts';

export default defineModule({
  name: 'file',
  doc: 'Reads, writes, changes and finds files and folders.',
  reads: [
    'file_exists',
    'directory_exists',
    'path_exists_glob',
    'is_link',
    'is_hardlink',
    'stats',
    'lstat',
    'statvfs',
    'access',
    'readdir',
    'diskusage',
    'basename',
    'dirname',
    'join',
    'normpath',
    'pardir',
    'get_uid',
    'get_gid',
    'get_user',
    'get_group',
    'get_mode',
    'uid_to_user',
    'user_to_uid',
    'gid_to_group',
    'group_to_gid',
    'read',
    'seek_read',
    'contains',
    'contains_regex',
    'contains_glob',
    'grep',
    'get_hash',
    'get_sum',
    'check_hash',
    'readlink',
    'search',
    'is_chrdev',
    'is_blkdev',
    'is_fifo',
    'get_devmm',
    'open_files',
    'list_backups',
    'list_backup',
    'list_backups_dir',
    'lsattr',
    'get_selinux_context',
    'get_diff',
    'get_source_sum',
    'extract_hash',
    'source_list',
    'apply_template_on_contents',
    'get_managed',
    'check_file_meta',
    'check_managed',
    'check_managed_changes',
    'sed_contains',
  ],
  functions: {
    ...statFunctions,
    ...ownershipFunctions,
    ...contentFunctions,
    ...hashFunctions,
    ...moveFunctions,
    ...replaceFunctions,
    ...lineFunctions,
    ...blockFunctions,
    ...findFunctions,
    ...deviceFunctions,
    ...backupFunctions,
    ...attributeFunctions,
    ...sourceFunctions,
    ...permsFunctions,
    ...managedFunctions,
  },
});
