// Beacon `swapusage`: usage of the swap space reaches the limit.
import { swapMemory } from '../shared/ps/system-facts.ts';
import { percentageBeacon } from './shared/percentage.ts';

export default percentageBeacon('swapusage', 'swap space', () => swapMemory()['percent'] ?? 0);
