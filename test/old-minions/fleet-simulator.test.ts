// `salt-fleet` in the oldest protocol, against a master that knows no other.
import { expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { oldPeers } from '../support/old-fleet.ts';
import { FleetRun } from '../support/salt-fleet.ts';

for (const { version, implementation } of oldPeers(['2019.2.8', '3002.9'])) {
  it.skipIf(!implementation)(`Salt ${version}`, async () => {
    const master = await Deployment.create({
      ...(implementation ? { master: implementation } : {}),
      masterConfig: 'timeout: 20',
    });
    let run: FleetRun | undefined;
    try {
      await master.startMaster();
      const protocol = version === '2019.2.8' ? '0' : '2';
      const args = ['--minions', '10', '--as', 'salt', '--protocol', protocol, '--boot', '--settle', '1', '--token'];
      run = await FleetRun.ready(master.ports.requests, args);
      const answers = await master.json('*', 'test.ping');
      expect(Object.values(answers).filter((value) => value === true)).toHaveLength(10);
      const { report } = await run.quit();
      const whole = { expected: 10, acknowledged: 10, missing: 0, doubled: 0 };
      // Commands of these releases publish more than the job that they were asked for.
      expect(report.jobs.length).toBeGreaterThan(0);
      for (const job of report.jobs) expect(job).toMatchObject({ fun: 'test.ping', ...whole });
      expect(report.returns).toMatchObject({ missing: 0, doubled: 0, refused: 0, lost: 0 });
      expect(report.boot.minions).toBe(10);
    } finally {
      await run?.kill();
      await master.destroy();
    }
  });
}
