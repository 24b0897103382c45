// Three masters upgraded one after the other under load, with two real builds, of which the newer one knows more (a higher
// level); one goes back in between. Afterwards the older build is refused.
//
// HALITE_CLUSTER_LONG=1; HALITE_OLD_BUILD names the commit of the older one, by default the last one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Field } from '../support/cluster-field.ts';
import { Load } from '../support/cluster-load.ts';
import { type Deployment, halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { addRow, printTable } from '../support/fault-table.ts';
import { whyNoNamespaces } from '../support/namespaces.ts';
import { hasCommit, makeBuild, type OtherBuild } from '../support/other-build.ts';
import { natsPrograms } from '../support/servers/nats.ts';

const oldCommit = process.env['HALITE_OLD_BUILD'] ?? 'HEAD';
const missing =
  (natsPrograms().length === 0 ? 'there is no nats-server' : whyNoNamespaces()) ??
  (hasCommit(oldCommit) ? undefined : `commit ${oldCommit} is not in this clone`);
if (missing !== undefined) console.error(`SKIPPED: the upgrade of a cluster: ${missing}`);

describe.skipIf(missing !== undefined)('a cluster that is upgraded under load', () => {
  let [older, newer]: OtherBuild[] = [];
  let field: Field;
  beforeAll(async () => {
    older = makeBuild('older', { commit: oldCommit });
    newer = makeBuild('newer', {
      change: ['src/engine/cluster/alone.ts', 'export const ownLevel = 1;', 'export const ownLevel = 2;'],
    });
    field = await Field.start({ minions: { h1: halite }, simulated: 5, build: older });
  }, 600_000);
  afterAll(async () => {
    printTable();
    await field?.destroy();
    for (const build of [older, newer]) build?.remove();
  });

  const status = async (master: Deployment): Promise<string> =>
    (await master.run('salt-run', ['cluster.status'])).stdout;
  const change = async (id: string, build: OtherBuild): Promise<void> => {
    const master = field.master(id);
    await master.master.stop();
    await master.startMaster(field.buildFor(id, build));
    await field.together();
  };

  it('row 21: loses and doubles nothing, raises the level at the end, and refuses the older build then', async () => {
    const load = new Load(field);
    let longest = 0;
    const step = async (id: string, build: OtherBuild): Promise<void> => {
      await change(id, build);
      longest = Math.max(longest, await load.normal(performance.now()));
    };
    try {
      await load.normal(performance.now());
      await step('m1', newer!);
      expect(await status(field.master('m2'))).toContain('level 1');
      await step('m1', older!);
      for (const id of field.masterIds) await step(id, newer!);
    } catch (error) {
      await load.stop();
      throw error;
    }
    addRow(21, 'upgrade one by one, one of them down again', longest, await load.account());
    await eventually('the level to be raised', async () => (await status(field.master('m1'))).includes('level 2'));
    const m3 = field.master('m3');
    await m3.master.stop();
    await expect(m3.startMaster(field.buildFor('m3', older!))).rejects.toThrow(
      /The cluster works at level 2, this version of Halite at 1 at most/,
    );
    await m3.startMaster(field.buildFor('m3', newer!));
    await field.together();
  }, 900_000);
});
