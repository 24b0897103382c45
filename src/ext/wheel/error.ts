// Wheel `error`: fails on purpose, to try how failures of wheel functions are handled.
import { defineWheel } from 'halite/sdk';
import runner from '../runners/error.ts';

export default defineWheel({ name: 'error', doc: runner.doc, functions: runner.functions });
