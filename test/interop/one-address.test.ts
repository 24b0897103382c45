// Real and Halite minions of two masters behind one address, one of which is killed while a job runs.
import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { OneAddress, oneAddressPrograms } from '../support/one-address.ts';
import { saltRelease } from '../support/salt-release.ts';

const programs = oneAddressPrograms();

describe.skipIf(!programs)('minions of two masters behind one address', () => {
  it('lose no result when the master of their connections is killed', async () => {
    const masters = await OneAddress.start();
    const ids = ['oldest', 'newest', 'own'];
    try {
      masters.startMinion('oldest', saltRelease('3006.27'));
      masters.startMinion('newest', saltRelease('3008.2'));
      masters.startMinion('own', halite);
      await masters.answering(...ids);
      const [m1, m2] = [masters.master(0), masters.master(1)];
      const marks = ids.map((id) => m1.path(`${id}-began`));
      const command = `touch ${m1.path()}/$ID-began; while [ ! -e ${m1.path('go')} ]; do sleep 0.1; done; echo done`;
      const jobs = ids.map((id) => m1.salt(id, 'cmd.run', command.replaceAll('$ID', id), '-t', '60', '--out=json'));
      await eventually('the jobs to begin', () => marks.every((mark) => existsSync(mark)));
      await m2.master.stop('SIGKILL');
      writeFileSync(m1.path('go'), '');
      const results = await Promise.all(jobs);
      expect(results.map(({ stdout }) => JSON.parse(stdout) as unknown)).toEqual(ids.map((id) => ({ [id]: 'done' })));
      await masters.answering(...ids);
    } finally {
      await masters.destroy();
    }
  });
});
