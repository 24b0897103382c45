// The availability checks of extensions that need programs or functions.
import { newDict } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { needsFunction, needsPrograms } from './needs.ts';

const system = (why: true | string) => ({ grains: newDict(), opts: {}, callable: async () => why });

describe('needs', () => {
  it('names the program that is missing', async () => {
    const text = (missing: string): string => `${missing} is not in the path`;
    expect(await needsPrograms(['sh', 'halite-no-such-program'], text)(system(true))).toBe(
      'halite-no-such-program is not in the path',
    );
    expect(await needsPrograms(['sh'], text)(system(true))).toBe(true);
  });

  it('gives the reason why a function is missing', async () => {
    const ask = needsFunction('cron.list_tab', 'cron module could not be loaded');
    expect(await ask(system(true))).toBe(true);
    expect(await ask(system('crontab command not found'))).toBe(
      'cron module could not be loaded (crontab command not found)',
    );
  });
});
