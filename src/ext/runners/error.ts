// Runner `error`: fails on purpose, to test how failures of runners are handled.
import { defineRunner } from 'halite/sdk';
import { errorFunctions } from '../shared/master/error-functions.ts';

export default defineRunner({ name: 'error', doc: 'Fail on purpose.', functions: errorFunctions });
