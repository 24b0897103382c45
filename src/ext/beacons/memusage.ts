// Beacon `memusage`: memory usage reaches the limit.
import { virtualMemory } from '../shared/ps/system-facts.ts';
import { percentageBeacon } from './shared/percentage.ts';

export default percentageBeacon('memusage', 'memory', () => virtualMemory()['percent'] ?? 0);
