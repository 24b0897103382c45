// Execution module `file`: everything about files and folders of the minion.
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
