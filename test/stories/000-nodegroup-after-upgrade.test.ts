// Story 000: after an upgrade of the master a nodegroup reaches nobody, while single machines answer. Here it reaches all.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { oldPeers } from '../support/old-fleet.ts';
import { startStopwatch } from '../support/pace.ts';
import { saltRelease } from '../support/salt-release.ts';

/** The release of the story, and one that is old today. */
const [story, recent] = oldPeers(['2015.5.11', '3005.5']).map(({ implementation }) => implementation);

/** The group of the story: two machines, named by their addresses, and a comma at the end; here with newer ones beside. */
const es1 = '10.8.1.11';
const es2 = '10.8.1.12';
const everybody = [es1, es2, 'es-3006', 'es-3008', 'es-halite'];
const nodegroups = `nodegroups:
  ELK: 'L@${everybody.join(',')},'
  old: [${es1}, ${es2}]
  nested: 'N@ELK and not N@old'
  others: 'not N@old'
`;

let fleet: Deployment;
const stories = describe.skipIf(!story || !recent);

/** The part of the configuration that decides whether minions of long ago are let in. */
function configure(minimum: number): void {
  writeFileSync(fleet.path('etc/master.d/nodegroups.conf'), `${nodegroups}minimum_auth_version: ${minimum}\n`);
}
const ping = async (...target: string[]): Promise<string[]> => {
  const answers = await fleet.json(...target, 'test.ping', '-t', '2');
  return Object.keys(answers)
    .filter((id) => answers[id] === true)
    .sort();
};

beforeAll(async () => {
  if (!story || !recent) return;
  fleet = await Deployment.create();
  configure(0);
  await fleet.startMaster();
  fleet.startMinion('es-3006', saltRelease('3006.27'));
  fleet.startMinion('es-3008', saltRelease('3008.2'));
  fleet.startMinion('es-halite');
  fleet.startMinion(es1, story);
  fleet.startMinion(es2, recent);
  await fleet.answering(...everybody);
});
afterAll(async () => {
  await fleet?.destroy();
});

stories('“only selecting all fails, single addresses work”', () => {
  it('# salt -N ELK test.ping: every release behind the group answers', async () => {
    const watch = await startStopwatch();
    const { stdout, code } = await fleet.salt('-N', 'ELK', 'test.ping');
    for (const id of everybody) expect(stdout).toContain(`${id}:\n    True\n`);
    expect(code).toBe(0);
    // The story waited two minutes for a group of two.
    expect(await watch.ms()).toBeLessThan(5000);
  });

  it('# salt <ip> test.ping: one by one as well', async () => {
    for (const id of everybody) expect(await ping(id)).toEqual([id]);
  });

  it('the versions are as far apart as in the story', async () => {
    expect(await fleet.json('-N', 'ELK', 'test.version', '-t', '2')).toMatchObject({
      [es1]: '2015.5.11',
      [es2]: '3005.5',
      'es-3006': '3006.27',
      'es-3008': '3008.2',
    });
  });
});

stories('“No nested nodegroups detected. Using original nodegroup definition”', () => {
  it('groups in groups, negated groups and groups in expressions reach old and new minions alike', async () => {
    expect(await ping('-N', 'old')).toEqual([es1, es2]);
    expect(await ping('-N', 'nested')).toEqual(['es-3006', 'es-3008', 'es-halite']);
    expect(await ping('-N', 'others')).toEqual(['es-3006', 'es-3008', 'es-halite']);
    expect(await ping('-C', `N@ELK and not L@es-3006,${es1}`)).toEqual([es2, 'es-3008', 'es-halite']);
  });

  it('what went wrong then: the group left as a list of words, which 2015.5 does not take for a target', async () => {
    const program = `import json, sys, salt.minion
matcher = salt.minion.Matcher({'id': '${es1}', 'grains': {}, 'pillar': {}})
print(json.dumps([matcher.compound_match(tgt) for tgt in json.loads(sys.argv[1])]))`;
    const targets = JSON.stringify([[`L@${es1},${es2},`], `L@${es1},${es2},`]);
    const { stdout } = await runProgram(join(story?.bin ?? '', 'python'), ['-c', program, targets]);
    expect(JSON.parse(stdout)).toEqual([false, true]);
  });
});

stories('“sent to set([])”, “Minion did not return. [No response]”, twice', () => {
  it('the master knows whom it means before anything is sent', async () => {
    const { stdout, stderr } = await fleet.salt('-N', 'ELK', '--preview-target', '--explain');
    expect(stdout.split('\n').filter(Boolean)).toEqual(everybody.map((id) => `- ${id}`));
    expect(stderr).toMatch(/^5 minions: 1 connected, 4 heard from/);
  });

  it('a machine that is really gone is listed once, with a reason, and the others do not wait', async () => {
    await fleet.minion(es2).stop('SIGKILL');
    const { stdout, code } = await fleet.salt('-N', 'ELK', 'test.ping', '-t', '2');
    expect(stdout.match(/^10\.8\.1\.12:$/gm)).toHaveLength(1);
    expect(stdout).toMatch(
      /10\.8\.1\.12:\n {4}Minion did not return\. \[No response\]\n {4}Its key is accepted, but it does not answer \(since /,
    );
    expect(stdout.match(/True/g)).toHaveLength(4);
    expect(code).toBe(1);
  });
});

stories('“the versions are not compatible after all”', () => {
  it('a master that does not let old protocols in says so, minion by minion, before and after', async () => {
    await fleet.master.stop();
    configure(3);
    await fleet.startMaster();
    await fleet.answering('es-halite', 'es-3006', 'es-3008');
    const said =
      `${es1}:\n    Minion did not return. [Not connected]\n` +
      '    It speaks an older protocol than minimum_auth_version allows (speaks protocol 0, minimum_auth_version is 3)';
    // It signs in again when it receives something that it cannot read any more.
    await eventually(
      'the old minion to try',
      async () => (await fleet.salt('-N', 'ELK', 'test.ping', '-t', '2')).stdout.includes(said),
      { timeoutMs: 120_000, describe: () => fleet.minion(es1).output().slice(-2000) },
    );
    const { stderr } = await fleet.salt('-N', 'ELK', '--preview-target', '--explain');
    expect(stderr).toContain(`1 too old (${es1}: `);
    const explained = await fleet.run('salt-run', ['manage.explain', es1, '--out=json']);
    expect(JSON.parse(explained.stdout)).toMatchObject({ key: 'accepted', reason: 'too-old' });
  });
});
