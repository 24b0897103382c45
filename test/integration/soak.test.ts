// The soak of `npm run soak`, once through everything: each attack meets each honest task somewhere; by counts, not by time.
import { expect, it } from 'vitest';
import { memoryOf, soakChart } from '../soak/chart.ts';
import { tasks } from '../soak/honest.ts';
import { attacks } from '../soak/hostile.ts';
import { soak } from '../soak/soak.ts';

it('valid minions are served during attacks of unauthenticated peers and of a malicious minion', async () => {
  const result = await soak({ more: (rounds) => rounds < 1, simulated: 5 });
  expect(result.failures).toEqual([]);
  expect(result.masterLives).toBe(true);
  expect(result.answers).toHaveLength(Object.keys(tasks).length);
  expect(result.attacks).toBeGreaterThanOrEqual(Object.keys(attacks).length);
  expect(result.samples.length).toBeGreaterThan(0);
  const { samples, levels } = memoryOf(result);
  expect(samples).toHaveLength(result.samples.length);
  expect(levels.length).toBeGreaterThan(0);
  for (const { from, to, mb } of levels) expect(mb > 20 && to >= from).toBe(true);
  const chart = soakChart(result);
  expect(chart.match(/<path/g)).toHaveLength(2);
  expect(chart).not.toMatch(/NaN|undefined|Infinity/);
});
