// Orchestration through the real commands: steps on minions and on the master, honest results, history, the event stream.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

interface Result {
  readonly result: boolean | null;
  readonly comment: string;
  readonly changes: Record<string, unknown>;
  readonly __jid__?: string;
}
interface Orchestrated {
  readonly retcode: number;
  readonly data: Record<string, Record<string, Result>>;
}

let fleet: Deployment;

function sls(name: string, text: string): void {
  const path = fleet.path('srv/salt', `${name}.sls`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

interface Outcome {
  readonly results: Record<string, Result>;
  readonly code: number | null;
  /** What is printed before the results. */
  readonly printed: string;
}

/** Results by id of an orchestration, and the exit code of the command. */
async function orchestrate(...args: string[]): Promise<Outcome> {
  const { stdout, stderr, code } = await fleet.run('salt-run', ['state.orchestrate', ...args, '--out=json']);
  const start = stdout.indexOf('{');
  if (start < 0) throw new Error(`no JSON: ${stdout}${stderr}`);
  const printed = stdout.slice(0, start);
  const { data, retcode } = JSON.parse(stdout.slice(start)) as Orchestrated;
  expect(retcode).toBe(code);
  const [host, found] = Object.entries(data)[0]!;
  expect(host).toMatch(/_master$/);
  const results = Object.fromEntries(Object.entries(found).map(([tag, item]) => [tag.split('_|-')[1], item]));
  return { results, code, printed };
}

beforeAll(async () => {
  fleet = await Deployment.create();
  sls('web', 'changed: test.succeed_with_changes\n');
  sls('same', 'same: test.nop\n');
  sls('broken', 'broken: test.fail_without_changes\n');
  await fleet.startMaster();
  for (const id of ['w1', 'w2']) fleet.startMinion(id);
  await fleet.answering('w1', 'w2');
});
afterAll(async () => {
  await fleet?.destroy();
});

describe('orchestration', () => {
  it('runs steps in the order of their requisites, and stores each as a job', async () => {
    sls(
      'orch/deploy',
      [
        'apply: {salt.state: [{tgt: "w*"}, {sls: [web]}, {require: [{salt: ping}]}]}',
        'ping: {salt.function: [{name: test.echo}, {tgt: "*"}, {arg: [{{ pillar["word"] }}]}]}',
        'same: {salt.state: [{tgt: w1}, {sls: same}, {require: [{salt: apply}]}]}',
      ].join('\n'),
    );
    const { results, code } = await orchestrate('orch.deploy', 'pillar={"word": "hello"}');
    expect(code).toBe(0);
    const { ping, apply, same } = results;
    expect(ping).toMatchObject({ result: true, changes: { ret: { w1: 'hello', w2: 'hello' } } });
    expect(ping?.comment).toMatch(/^Function ran successfully\. Function test\.echo ran on (w1, w2|w2, w1)\.$/);
    expect(apply?.comment).toMatch(/^States ran successfully\. Updating (w1, w2|w2, w1)\.$/);
    expect(apply?.changes['out']).toBe('highstate');
    expect(same).toMatchObject({ comment: 'States ran successfully. No changes made to w1.', changes: {} });
    const { stdout } = await fleet.run('salt-run', ['jobs.list_job', apply?.__jid__ ?? '', '--out=json']);
    const job = JSON.parse(stdout) as { Function: string; Result: object };
    expect(job.Function).toBe('state.sls');
    expect(Object.keys(job.Result).sort()).toEqual(['w1', 'w2']);
  });

  it('reports which step failed and why, and does not run dependent steps', async () => {
    sls(
      'orch/failing',
      [
        'broken: {salt.state: [{tgt: w1}, {sls: broken}]}',
        'after: {salt.function: [{name: test.ping}, {tgt: w1}, {require: [{salt: broken}]}]}',
        'nosls: {salt.state: [{tgt: w1}, {sls: nosuch}]}',
        'nobody: {salt.state: [{tgt: nobody}, {sls: web}]}',
        'code: {salt.function: [{name: cmd.run}, {tgt: w1}, {arg: ["exit 3"]}]}',
        'allowed: {salt.state: [{tgt: w1}, {sls: broken}, {fail_minions: w1}]}',
      ].join('\n'),
    );
    const { results, code, printed } = await orchestrate('orch.failing');
    expect(code).toBe(1);
    expect(printed).toBe('No minions matched the target. No command was sent, no jid was assigned.\n');
    expect(results['broken']).toMatchObject({ result: false, comment: 'Run failed on minions: w1' });
    expect(results['after']).toMatchObject({ result: false });
    expect(results['after']?.comment).toContain('One or more requisite failed');
    expect(results['nosls']?.comment).toBe(
      "Run failed on minions: w1\nMinion w1 returned errors: No matching sls found for 'nosuch' in env 'base'",
    );
    expect(results['nobody']).toMatchObject({ result: false, comment: 'No minions returned' });
    expect(results['code']?.comment).toBe('Running function cmd.run failed on minions: w1 Function cmd.run ran on w1.');
    expect(results['allowed']).toMatchObject({ result: true });
  });

  it('calls runners and wheel functions, nested orchestrations included', async () => {
    sls(
      'orch/master',
      [
        'args: {salt.runner: [{name: test.arg}, {arg: [1]}, {word: x}]}',
        'keys: {salt.wheel: [{name: key.list}, {match: accepted}]}',
        'inner: {salt.runner: [{name: state.orchestrate}, {mods: broken}]}',
        'unknown: {salt.runner: [{name: no.such}]}',
        'both: {salt.parallel_runners: [{runners: {a: [{name: test.arg}, {kwarg: {n: 1}}], b: [{name: test.arg}]}}]}',
      ].join('\n'),
    );
    const { results, code } = await orchestrate('orch.master');
    expect(code).toBe(1);
    const { args, keys, inner, unknown, both } = results;
    expect(args).toMatchObject({ result: true, changes: { return: { args: [1], kwargs: { word: 'x' } } } });
    expect(args?.comment).toBe("Runner function 'test.arg' executed.");
    expect(keys).toMatchObject({ result: true, changes: { return: { minions: ['w1', 'w2'] } } });
    expect(inner).toMatchObject({ result: false, comment: "Runner function 'state.orchestrate' failed." });
    expect(unknown).toMatchObject({ result: false, changes: { return: "'no.such' is not available." } });
    expect(both?.changes).toEqual({
      ret: { a: { args: [], kwargs: { n: 1 } }, b: { args: [], kwargs: {} } },
    });
  });

  it('changes nothing under test=True', async () => {
    const { results, code } = await orchestrate('orch.deploy', 'pillar={"word": "hello"}', 'test=True');
    expect(code).toBe(0);
    expect(results['ping']).toMatchObject({
      result: null,
      comment: 'Function test.echo would be executed on target *',
    });
    expect(results['apply']).toMatchObject({ result: null });
  });

  it('waits for events, and prints them as they arrive', async () => {
    sls('orch/wait', 'wait: {salt.wait_for_event: [{name: "test/*/done"}, {id_list: [w1, w2]}, {timeout: 60}]}');
    const printed = fleet.run('salt-run', ['state.event', 'test/w1/done', 'count=1']);
    const waiting = orchestrate('orch.wait');
    let over = false;
    void Promise.all([printed, waiting]).finally(() => {
      over = true;
    });
    // Neither says when it has begun to listen, so the events are sent until both have what they wait for.
    await eventually('both to see the events', async () => {
      for (const id of ['w1', 'w2']) await fleet.json(id, 'event.send', `test/${id}/done`);
      return over;
    });
    const { results } = await waiting;
    expect(results['wait']?.result).toBe(true);
    const seen = (results['wait']?.changes['minions_seen'] ?? []) as string[];
    expect([...seen].sort()).toEqual(['w1', 'w2']);
    expect((await printed).stdout).toMatch(/^test\/w1\/done\t\{"id": "w1",/);
  });
});

describe('salt.cmd', () => {
  it('has the pillar of the master, compiled when a function asks for it and in memory with with_pillar', async () => {
    writeFileSync(fleet.path('srv/pillar/top.sls'), "base:\n  '*_master': [own]\n");
    writeFileSync(fleet.path('srv/pillar/own.sls'), "whose: {{ grains['id'] }}\n");
    const cmd = async (...args: string[]): Promise<unknown> =>
      JSON.parse((await fleet.run('salt-run', ['salt.cmd', ...args, '--out=json'])).stdout);
    expect(await cmd('pillar.items')).toEqual({ whose: expect.stringMatching(/_master$/) });
    expect(await cmd('pillar.get', 'whose')).toBe('');
    expect(await cmd('pillar.get', 'whose', 'with_pillar=True')).toMatch(/_master$/);
  });
});
