// Attacks of an accepted minion with jobs: code on the master, records of others, results of jobs not sent to it.
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlainDict, Value } from '../../src/base/codec/value.ts';
import { jidOf } from '../../src/base/util/jid.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { HostileMinion } from '../support/hostile-minion.ts';
import { jsonLines } from '../support/json-lines.ts';
import { LocalCaller } from '../support/local-caller.ts';

let fleet: Deployment;
let evil: HostileMinion;
let root: LocalCaller;
/** An address that the minion names: nothing should connect to it. */
let trap: Server;
const visits: string[] = [];

const config = `
peer:
  evil: [test.sleep, test.ping]
peer_run:
  evil: ['jobs.*', 'pillar.*', manage.up]
`;

beforeAll(async () => {
  trap = createServer((request, response) => {
    visits.push(String(request.url));
    response.end();
  });
  await new Promise<void>((done) => trap.listen(0, '127.0.0.1', done));
  fleet = await Deployment.create({ masterConfig: config });
  const file = `rawfile_json.filename: ${fleet.path('log/results.json')}\n`;
  writeFileSync(fleet.path('etc/master.d/returners.conf'), file);
  await fleet.startMaster();
  fleet.startMinion('m1');
  fleet.startMinion('m2');
  await fleet.answering('m1', 'm2');
  evil = await HostileMinion.start(fleet, 'evil');
  root = await LocalCaller.connect(fleet, 'root');
});
afterAll(async () => {
  root?.close();
  evil?.stop();
  trap?.close();
  await fleet?.destroy();
});

const lookUp = async (jid: string): Promise<Record<string, unknown>> => {
  const { stdout } = await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json']);
  return JSON.parse(stdout) as Record<string, unknown>;
};
const record = async (jid: string): Promise<Record<string, unknown>> => {
  const { stdout } = await fleet.run('salt-run', ['jobs.list_job', jid, '--out=json']);
  return JSON.parse(stdout) as Record<string, unknown>;
};

describe('a run that a minion reports', () => {
  const forms: [string, () => Record<string, Value>][] = [
    ['salt-call', () => ({ jid: 'req' })],
    ['its schedule', () => ({ jid: jidOf((Date.now() - 60_000) * 1000), schedule: 'nightly' })],
  ];
  it.each(forms)('by %s cannot set options for returners of the master', async (_, form) => {
    const seen = jsonLines<PlainDict>(fleet.path('log/results.json')).length;
    const script = `#!js\nrequire('node:fs').writeFileSync(${JSON.stringify(fleet.path('ran'))}, 'x')`;
    const { port } = trap.address() as AddressInfo;
    const load = {
      ...{ fun: 'test.ping', fun_args: [], return: `run ${seen}`, retcode: 0, success: true },
      ...{ ret: 'webhook', ret_config: 'mine', user: 'root' },
      ret_kwargs: {
        ...{ url: `http://127.0.0.1:${port}/stolen`, body: `${script}\n{{ jid }}`, subject: script },
        filename: fleet.path('written'),
      },
      returners: { names: ['rawfile_json', 'webhook'], config: 'mine', kwargs: { filename: fleet.path('written') } },
      ...form(),
    };
    await evil.send('_return', load);
    // The master's own options count: its file has the result, and its webhook has no address.
    await eventually('the result in the file of the configuration', () =>
      jsonLines<PlainDict>(fleet.path('log/results.json')).some((line) => line['return'] === `run ${seen}`),
    );
    await eventually('the webhook to miss its address', () => fleet.master.output().includes('webhook.url'));
    expect(visits).toEqual([]);
    expect(['ran', 'written'].filter((name) => existsSync(fleet.path(name)))).toEqual([]);
  });

  it('never replaces a job of the master', async () => {
    const { items } = await root.publish({ tgt: 'm1', fun: 'test.echo', arg: ['of root'] });
    const jid = String(items[0]?.['jid']);
    const before = await record(jid);
    for (const user of ['root', 'evil']) {
      const lie = { jid, schedule: 'x', user, fun: 'cmd.run', fun_args: ['id'], arg: ['id'], return: 'FORGED' };
      await evil.send('_return', { ...lie, retcode: 0, success: true });
    }
    expect(await record(jid)).toEqual(before);
    expect(await lookUp(jid)).toEqual({ m1: 'of root' });
  });

  it('cannot be stored in advance for a later job', async () => {
    await fleet.minion('m2').stop();
    const later = jidOf((Date.now() + 3_600_000) * 1000);
    const lie = { user: 'evil', schedule: 'x', fun: 'cmd.run', fun_args: [`touch ${fleet.path('ran')}`], tgt: 'm2' };
    await evil.returnOf(later, 'FORGED', { ...lie, arg: lie.fun_args });
    await evil.returnOf(later, 'FORGED');
    // Kept for m2, and delivered from the record: that of the master.
    const { error } = await root.publish({ jid: later, tgt: 'm2', fun: 'test.echo', arg: ['kept'], durable: 600 });
    expect(error).toBeUndefined();
    fleet.startMinion('m2');
    await eventually('the durable job to end', async () => Object.keys(await lookUp(later)).length > 0, {
      timeoutMs: 120_000,
    });
    expect(await lookUp(later)).toEqual({ m2: 'kept' });
    expect(existsSync(fleet.path('ran'))).toBe(false);
  });

  it('keeps its jid to itself: no job is published under it', async () => {
    const past = jidOf((Date.now() - 90_000) * 1000);
    await evil.returnOf(past, true, { schedule: 'x', user: 'root' });
    const { error } = await root.publish({ jid: past, tgt: 'm1', fun: 'test.ping' });
    expect(error).toContain(`the job id ${past} is in use`);
  });
});

describe('results of a minion to which the job was not sent', () => {
  it('reach neither the waiting command nor the record', async () => {
    const items: PlainDict[] = [];
    let jid = '';
    const job = { tgt: 'm1', tgt_type: 'glob', fun: 'test.sleep', arg: [2], timeout: 60 };
    for await (const item of root.stream('publish', job)) {
      items.push(item);
      if (item['type'] !== 'job') continue;
      // It runs on m1 now.
      jid = String(item['jid']);
      await evil.returnOf(jid, 'FORGED');
    }
    expect(items.flatMap((item) => (item['type'] === 'return' ? [item['id']] : []))).toEqual(['m1']);
    expect(items.at(-1)).toMatchObject({ type: 'end', balance: { returned: 1 } });
    expect(await lookUp(jid)).toEqual({ m1: true });
    await eventually('the master to say so', () => fleet.master.output().includes('not asked'));
    // Also when the job has ended long ago.
    await evil.returnOf(jid, 'FORGED');
    expect(await lookUp(jid)).toEqual({ m1: true });
  });
});

describe('a minion that asks for jobs and runners', () => {
  const ask = (more: PlainDict): Promise<Value> =>
    evil.send('minion_publish', {
      tgt: 'm1',
      fun: 'test.ping',
      arg: [],
      ret: '',
      tmo: 100_000,
      form: 'clean',
      ...more,
    });

  it('has a limited number of open jobs', async () => {
    // Nobody answers these: the minion they are for only asks.
    const publish = async (): Promise<string> =>
      JSON.stringify(await evil.send('minion_pub', { tgt: 'evil', fun: 'test.ping', arg: [], ret: '', tmo: 100_000 }));
    const answers: string[] = [];
    for (let i = 0; i < 70; i++) answers.push(await publish());
    expect(answers.filter((answer) => answer === '{}')).toHaveLength(6);
    expect(await ask({})).toEqual({});
    expect(fleet.master.output()).toContain('too many jobs open');
    const [first] = answers;
    await evil.returnOf((JSON.parse(first as string) as { jid: string }).jid, true);
    // One of them is over: it may ask again.
    expect(await ask({})).toEqual({ m1: true });
  });

  it.each(['testXping', 'test.pin', 'test.ping,cmd.run', '', ','])('is refused %j', async (fun) => {
    expect(await ask({ fun })).toEqual({});
  });

  const runner = (fun: string, ...arg: Value[]): Promise<Value> => evil.send('minion_runner', { fun, arg });
  it('does not read data of others because a rule names a whole module', async () => {
    expect(await runner('jobs.query', 'select * from minion_data')).toEqual({});
    expect(await runner('pillar.show_pillar', 'm1')).toEqual({});
    expect(await runner('manage.up')).toEqual(expect.arrayContaining(['m1']));
    expect(await runner('jobs.active')).toEqual({});
  });
});
