// Beacons that compare one percentage with a limit.
import { asNumber, type Beacon, defineBeacon, newDict, type PlainDict, type Value } from 'halite/sdk';
import { percentOf } from './settings.ts';

export function percentageBeacon(name: string, what: string, usage: () => Value): Beacon {
  return defineBeacon({
    name,
    doc: `Sends an event when usage of the ${what} reaches \`percent\`.`,
    examples: [`${name}:\n  - percent: 63%\n  - interval: 60`],
    validate({ percent }) {
      if (percent === undefined) return `Configuration for ${name} beacon requires percent.`;
      if (percentOf(percent) === undefined) return `Configuration for ${name} beacon: percent must be a percentage.`;
      return undefined;
    },
    open(settings) {
      const limit = percentOf(settings['percent']) ?? 100;
      return {
        read(): PlainDict[] {
          const used = usage();
          return (asNumber(used) ?? 0) >= limit ? [newDict([[name, used]])] : [];
        },
      };
    },
  });
}
