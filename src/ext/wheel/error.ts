// Wheel `error`: fails on purpose, to test how failures of wheel functions are handled.
import { defineWheel } from 'halite/sdk';
import { errorFunctions } from '../shared/master/error-functions.ts';

export default defineWheel({ name: 'error', doc: 'Fail on purpose.', functions: errorFunctions });
