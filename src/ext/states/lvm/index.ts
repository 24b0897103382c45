// State module `lvm`: logical volumes.
import { defineState } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { groupAbsent, groupPresent, physicalAbsent, physicalPresent } from './groups.ts';
import { logicalAbsent, logicalPresent } from './logical.ts';

export default defineState({
  name: 'lvm',
  doc: 'Logical volumes.',
  available: () => which('lvm') !== null || 'lvm command not found',
  functions: {
    pv_present: physicalPresent,
    pv_absent: physicalAbsent,
    vg_present: groupPresent,
    vg_absent: groupAbsent,
    lv_present: logicalPresent,
    lv_absent: logicalAbsent,
  },
});
