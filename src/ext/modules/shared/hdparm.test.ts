// What hdparm prints, read.
import { describe, expect, it } from 'vitest';
import { parseHdparm } from './hdparm.ts';

describe('hdparm', () => {
  it('reads settings', () => {
    const text = [
      '',
      '/dev/sda:',
      ' multcount     = 16 (on)',
      ' geometry      = 30401/255/63, sectors = 488397168, start = 0',
      ' drive state is:  active/idle',
      ' max sectors   = 488397168/488397168, HPA is disabled',
      ' nothing here',
    ].join('\n');
    expect(JSON.parse(JSON.stringify(parseHdparm(text, '/dev/sda')))).toEqual({
      multcount: [16, 'on'],
      geometry: [30401, 255, 63, { sectors: '488397168', start: '0' }],
      drive_state: ['active', 'idle'],
      max_sectors: [488397168, 488397168, 'HPA is disabled'],
    });
  });
});
