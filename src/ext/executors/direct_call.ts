// Executor `direct_call`: calls the function.
import { defineExecutor } from 'halite/sdk';

export default defineExecutor({
  name: 'direct_call',
  doc: 'Calls the function; the default.',
  execute: (call) => call.run(),
});
