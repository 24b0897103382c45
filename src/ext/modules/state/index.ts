// Execution module `state`: applies states to this minion and shows what would be applied.
import { defineModule } from 'halite/sdk';
import { applyFunctions } from './apply.ts';
import { disableFunctions } from './disable.ts';
import { orchestrateFunctions } from './orchestrate.ts';
import { pauseFunctions } from './pause.ts';
import { requestFunctions } from './requests.ts';
import { showFunctions } from './show.ts';

export default defineModule({
  name: 'state',
  doc: 'Applies states to this minion, one run at a time.',
  reads: [
    'show_top',
    'show_highstate',
    'show_lowstate',
    'show_states',
    'show_state_usage',
    'show_sls',
    'show_low_sls',
    'sls_exists',
    'id_exists',
    'graph',
    'check_request',
    'running',
    'get_pauses',
    'list_disabled',
  ],
  functions: {
    ...applyFunctions,
    ...showFunctions,
    ...requestFunctions,
    ...pauseFunctions,
    ...disableFunctions,
    ...orchestrateFunctions,
  },
});
