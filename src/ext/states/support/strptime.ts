// Times in the notation of Python's strptime, for states.
export { parseTime } from '../../../base/util/strptime.ts';
