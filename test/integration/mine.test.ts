// The mine between real minions: forms of mine_functions, who may read what, the runner; and a report with a function's answer.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadYaml } from '../../src/base/codec/yaml/index.ts';
import { Deployment, halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let site: Deployment;

const functions = `mine_functions:
  test.ping: []
  test.echo: [hello]
  named:
    - mine_function: test.arg
    - 1
    - key: value
  hidden:
    - mine_function: test.echo
    - secret
    - allow_tgt: 'G@role:db'
    - allow_tgt_type: compound
  by_map: {mine_function: test.arg, allow_tgt: 'web*', key: 2}
`;

beforeAll(async () => {
  site = await Deployment.create({});
  mkdirSync(site.path('srv/salt'), { recursive: true });
  writeFileSync(site.path('srv/salt/one.sls'), 'one:\n  test.succeed_with_changes: []\n');
  await site.startMaster();
  const report = `highstate: {file_output: ${site.path('report.yaml')}, success_function: test.ping}\n`;
  site.startMinion('web1', halite, `${functions}${report}`);
  site.startMinion('db1', halite, 'grains: {role: db}');
  await site.answering('web1', 'db1');
});
afterAll(() => site?.destroy());

const mine = async (from: string, fun: string, ...more: string[]): Promise<unknown> =>
  (await site.json(from, 'mine.get', '*', fun, ...more))[from];
const runner = async (...args: string[]): Promise<unknown> =>
  JSON.parse((await site.run('salt-run', [...args, '--out=json'])).stdout);

describe('the mine', () => {
  it('holds what mine_functions name, in all their forms', async () => {
    expect(await site.json('web1', 'mine.update')).toEqual({ web1: true });
    expect(await mine('db1', 'test.ping')).toEqual({ web1: true });
    expect(await mine('db1', 'test.echo')).toEqual({ web1: 'hello' });
    expect(await mine('db1', 'named')).toMatchObject({ web1: { args: [1], kwargs: { key: 'value' } } });
    expect(await mine('db1', 'test.ping,test.echo')).toEqual({
      'test.ping': { web1: true },
      'test.echo': { web1: 'hello' },
    });
  });

  it('returns values only to minions that may read them', async () => {
    expect(await mine('db1', 'hidden')).toEqual({ web1: 'secret' });
    expect(await mine('web1', 'hidden')).toEqual({});
    expect(await mine('db1', 'by_map')).toEqual({});
    expect(await mine('web1', 'by_map')).toMatchObject({ web1: { kwargs: { key: 2 } } });
    await site.json('db1', 'mine.send', 'sent', 'mine_function=test.echo', 'x', 'allow_tgt=web1');
    expect(await mine('web1', 'sent')).toEqual({ db1: 'x' });
    expect(await mine('db1', 'sent')).toEqual({});
  });

  it('is read, updated and cleared by the runner', async () => {
    expect(await runner('mine.get', '*', 'test.echo')).toEqual({ web1: 'hello' });
    expect(await runner('mine.get', '*', '[test.echo, nosuch]')).toEqual({ 'test.echo': { web1: 'hello' } });
    expect(await runner('mine.update', 'web1')).toEqual({ web1: true });
    const nobody = await site.run('salt-run', ['mine.update', 'nobody', '--out=json']);
    expect([nobody.stdout.split('.')[0], nobody.code]).toEqual(['No minions matched the target', 0]);
    await site.json('web1', 'mine.delete', 'test.echo');
    expect(await mine('db1', 'test.echo')).toEqual({});
    await site.json('web1', 'mine.flush');
    expect(await mine('db1', 'test.ping')).toEqual({});
  });
});

it('a report of states has what a function of the minion answers', async () => {
  await site.json('web1', 'state.apply', 'one', '--return', 'highstate');
  const file = site.path('report.yaml');
  await eventually('the report', () => existsSync(file) && readFileSync(file, 'utf8').includes('states'));
  expect((loadYaml(readFileSync(file, 'utf8')) as unknown[])[0]).toEqual({ extra: [{ 'test.ping': true }] });
});
