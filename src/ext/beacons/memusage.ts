// Beacon `memusage`: as much of the memory is used as is given.
import { virtualMemory } from '../shared/ps/system-facts.ts';
import { percentageBeacon } from './shared/percentage.ts';

export default percentageBeacon('memusage', 'memory', () => virtualMemory()['percent'] ?? 0);
