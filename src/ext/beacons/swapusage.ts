// Beacon `swapusage`: as much of the swap space is used as is given.
import { swapMemory } from '../shared/ps/system-facts.ts';
import { percentageBeacon } from './shared/percentage.ts';

export default percentageBeacon('swapusage', 'swap space', () => swapMemory()['percent'] ?? 0);
