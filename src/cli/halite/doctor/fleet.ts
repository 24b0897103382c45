// Findings of the running master: its stores, keys and minions.
import { dictGet, isDict, newDict } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { askRunner } from '../ask-runner.ts';
import type { Finding, Level } from './finding.ts';

const levels: readonly string[] = ['problem', 'warning', 'fine'];

/** What the master reports about its stores, keys and minions. */
export async function examineFleet(configDir: string): Promise<Finding[]> {
  const found = await askRunner(configDir, 'doctor.fleet', [], newDict([['all', true]]));
  if (!Array.isArray(found)) throw new HaliteError('call.failed', `doctor.fleet: ${String(found)}`);
  return found.filter(isDict).map((item) => {
    const text = (key: string): string => String(dictGet(item, key) ?? '');
    const level = text('level');
    return {
      level: (levels.includes(level) ? level : 'warning') as Level,
      about: 'fleet',
      what: text('what'),
      ...(text('repair') ? { repair: text('repair') } : {}),
    };
  });
}
