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
  functions: {
    ...applyFunctions,
    ...showFunctions,
    ...requestFunctions,
    ...pauseFunctions,
    ...disableFunctions,
    ...orchestrateFunctions,
  },
});
