// Masters below masters, all of them Halite: three levels, faults of each, and hostile syndics.
import { readdirSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { jidOf } from '../../src/base/util/jid.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { HostileMinion } from '../support/hostile-minion.ts';

let top: Deployment;
let mid: Deployment;
let low: Deployment;

beforeAll(async () => {
  top = await Deployment.create({ masterConfig: 'order_masters: True\nmaster_id: top\nsyndic_wait: 8' });
  mid = await Deployment.create({ masterConfig: 'order_masters: True\nmaster_id: mid\nsyndic_wait: 6' });
  low = await Deployment.create({ masterConfig: 'order_masters: True\nmaster_id: low' });
  await Promise.all([top.startMaster(), mid.startMaster(), low.startMaster()]);
  top.startMinion('top1');
  mid.startMinion('mid1');
  low.startMinion('low1');
  low.startMinion('low2');
  await Promise.all([top.answering('top1'), mid.answering('mid1'), low.answering('low1', 'low2')]);
  await low.startSyndic('synd-low', [mid]);
  await mid.startSyndic('synd-mid', [top]);
});
afterAll(async () => {
  for (const level of [low, mid, top]) await level?.destroy();
});

const everybody = ['low1', 'low2', 'mid1', 'top1'];
/** The syndics have said everywhere that they are there. */
const reached = (): Promise<void> =>
  eventually('every level to be reached', async () => {
    const answers = await top.json('*', 'test.ping').catch(() => ({}));
    return JSON.stringify(Object.keys(answers).sort()) === JSON.stringify(everybody);
  });

describe('three levels', () => {
  it('answer to every kind of target, and the ids of syndics are no minions', async () => {
    await reached();
    expect(await top.json('low1', 'test.ping')).toEqual({ low1: true });
    expect(await top.json('-L', 'low2,mid1,top1', 'test.ping')).toEqual({ low2: true, mid1: true, top1: true });
    expect(await top.json('-E', 'low.*', 'test.ping')).toEqual({ low1: true, low2: true });
    expect(await top.json('-G', 'os:*', 'test.ping')).toEqual(Object.fromEntries(everybody.map((id) => [id, true])));
    expect(await top.json('-C', 'low* and not low1', 'test.echo', 'x')).toEqual({ low2: 'x' });
    const status = await top.run('salt-run', ['manage.status', '--out=json']);
    expect(JSON.parse(status.stdout)).toEqual({ up: everybody, down: [] });
  });

  it('return codes, batches, jobs in the background and states come through', async () => {
    const failed = await top.salt('low1', 'cmd.run', 'exit 3');
    expect(failed.code).toBe(1);
    const batch = await top.salt('-b', '1', 'low*', 'test.ping');
    expect(batch.stdout).toMatch(/low1:\s+True/);
    expect(batch.stdout).toMatch(/low2:\s+True/);
    const { stdout } = await top.salt('--async', 'low*', 'test.ping');
    const jid = /ID: (\d{20})/.exec(stdout)?.[1] ?? '';
    await eventually('the results', async () => {
      const found = await top.run('salt-run', ['jobs.lookup_jid', jid, '--out=json']);
      return found.stdout.includes('low1') && found.stdout.includes('low2');
    });
    const state = await top.salt('low1', 'state.single', 'test.nop', 'x');
    expect(state.stdout).toContain('Succeeded: 1');
  });

  it('one name that nobody has ends without waiting for long, a named list says who is missing', async () => {
    const nobody = await top.salt('nobody', 'test.ping');
    expect(nobody.stderr + nobody.stdout).toContain('No return received');
    const listed = await top.salt('-L', 'low1,nobody', 'test.ping');
    expect(listed.stdout).toMatch(/nobody:\s+Minion did not return/);
    expect(listed.stdout).toMatch(/low1:\s+True/);
  });

  it('the reason of a minion two levels below names where it is', async () => {
    await low.minion('low2').stop();
    await eventually('the reason', async () => {
      const { stdout } = await top.salt('low*', 'test.ping');
      return /low2:\s+Minion did not return[\s\S]*connection to the master was lost[\s\S]*below synd-low[\s\S]*below synd-mid/.test(
        stdout,
      );
    });
    low.startMinion('low2');
    await low.answering('low2');
  });
});

describe('faults', () => {
  const inBackground = async (): Promise<string> => {
    const { stdout } = await top.salt(
      '--async',
      'low1',
      'cmd.run',
      `while [ ! -e ${low.path('go')} ]; do sleep 0.1; done; echo done`,
    );
    return /ID: (\d{20})/.exec(stdout)?.[1] ?? '';
  };
  const result = async (jid: string): Promise<unknown> =>
    JSON.parse((await top.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout || '{}');
  const release = (): Promise<unknown> => low.json('low1', 'file.touch', low.path('go'));
  const hold = (): Promise<unknown> => low.json('low1', 'file.remove', low.path('go')).catch(() => undefined);
  const running = (jid: string): Promise<void> =>
    eventually('the job to run', async () =>
      JSON.stringify(await low.json('low1', 'saltutil.find_job', jid)).includes(jid),
    );

  it.each([
    [
      'the syndic',
      async () => {
        await low.syndic.stop('SIGKILL');
        await release();
        await low.startSyndic('synd-low', [mid]);
      },
    ],
    [
      'the lowest master',
      async () => {
        await low.master.stop('SIGKILL');
        await low.startMaster();
        await low.answering('low1');
        await release();
      },
    ],
    [
      'the master above',
      async () => {
        await mid.master.stop('SIGKILL');
        await release();
        await mid.startMaster();
      },
    ],
    [
      'the highest master',
      async () => {
        await top.master.stop('SIGKILL');
        await release();
        await top.startMaster();
      },
    ],
  ])('nothing is lost when %s is killed and comes back', async (_who, fault) => {
    await hold();
    const jid = await inBackground();
    await running(jid);
    await fault();
    await eventually('the result at the top', async () => JSON.stringify(await result(jid)).includes('done'), {
      timeoutMs: 120_000,
      describe: () => [low.syndic, mid.syndic].map((each) => each.output().slice(-2000)).join('\n---\n'),
    });
  });

  it('a lower master that is stopped is named', async () => {
    await reached();
    await mid.syndic.stop();
    const { stdout, code } = await top.salt('*', 'test.ping');
    expect(stdout).toMatch(/top1:\s+True/);
    expect(stdout).toMatch(/synd-mid:\s+Minion did not return[\s\S]*did not say which of its minions it reached/);
    expect(code).not.toBe(0);
    await mid.startSyndic('synd-mid', [top]);
    await reached();
  });

  it('a circle of masters ends', async () => {
    await top.startSyndic('synd-top', [low]);
    // Everything is below everything now: each minion answers once all the same.
    await eventually('the whole circle', async () => {
      const answers = await low.json('*', 'test.ping').catch(() => ({}));
      return JSON.stringify(Object.keys(answers).sort()) === JSON.stringify(everybody);
    });
    await top.syndic.stop();
    await low.run('salt-key', ['-y', '-d', 'synd-top']);
  });
});

describe('a hostile syndic', () => {
  const jobs = async (): Promise<string> => {
    const { stdout } = await top.salt('--async', '-L', 'ghost,top1', 'test.ping');
    return /ID: (\d{20})/.exec(stdout)?.[1] ?? '';
  };
  const returns = (jid: string, id: string, value: string, more: PlainDict = newDict()): PlainDict =>
    newDict(
      Object.entries({
        load: [
          { id: 'x', jid, fun: 'test.ping', return: { [id]: { return: value, retcode: 0, success: true } }, ...more },
        ],
      }),
    );
  const stored = async (jid: string): Promise<string> =>
    (await top.run('salt-run', ['jobs.query', `SELECT id, full_ret FROM ret WHERE jid = '${jid}'`, '--out=json']))
      .stdout;

  it('is believed nothing before it is a syndic, nothing about minions of this master, and no job of its own making', async () => {
    const evil = await HostileMinion.start(top, 'evil');
    try {
      const jid = await jobs();
      await evil.send('_syndic_return', returns(jid, 'ghost', 'too early'));
      expect(await stored(jid)).not.toContain('too early');
      await evil.send(
        '_minion_event',
        newDict(Object.entries({ tag: 'salt/syndic/evil/start', data: 'x', pretag: null })),
      );
      await evil.send('_syndic_return', returns(jid, 'top1', 'forged'));
      await evil.send('_syndic_return', returns(jid, 'stranger', 'not asked'));
      await evil.send('_syndic_return', returns(jidOf(Date.now() * 1000), 'ghost', 'no such job'));
      await evil.send('_syndic_return', returns(jid, '../../etc', 'path'));
      await evil.send('_syndic_return', newDict(Object.entries({ load: 'x'.repeat(100_000) })));
      await evil.send('_syndic_return', returns(jid, 'ghost', 'mine', newDict([['master_id', 'another']])));
      await evil.send('_syndic_return', returns(jid, 'ghost', 'replayed'));
      const found = await stored(jid);
      expect(found).toContain('mine');
      for (const refused of ['forged', 'not asked', 'no such job', 'path', 'replayed'])
        expect(found).not.toContain(refused);
      // Lists with ids that are none, of minions of this master, and without end.
      const list = (minions: Value): PlainDict => ({
        events: [{ tag: jid, data: { minions } }],
        pretag: 'syndic/evil',
      });
      for (const minions of [['../x', 'top1'], 'text', [1, 2], Array.from({ length: 150_000 }, (_, n) => `m${n}`)])
        await evil.send('_minion_event', list(minions));
      await evil.send(
        '_minion_event',
        newDict(
          Object.entries({
            tag: `halite/below/${jid}`,
            data: { missing: { top1: { code: 'silent', text: 'x', evidence: {} } } },
          }),
        ),
      );
      expect(await top.json('top1', 'test.ping')).toEqual({ top1: true });
    } finally {
      evil.stop();
      await top.run('salt-key', ['-y', '-d', 'evil']);
    }
    expect(readdirSync(top.path('cache/master/syndics'))).not.toContain('evil');
    expect(statSync(top.path('cache/master/syndics')).isDirectory()).toBe(true);
  });
});
