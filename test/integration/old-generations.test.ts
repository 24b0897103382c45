// What protocols before P3 prove: who may ask for what with the shared key alone, with an id, and with a token.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlainDict, Value } from '../../src/base/codec/value.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { OldMinion } from '../support/old-minion.ts';

const jid = '20260101000000000000';
const forAll: Record<string, PlainDict> = {
  _master_opts: {},
  _file_envs: {},
  _file_list: { saltenv: 'base', prefix: '' },
  _file_list_emptydirs: { saltenv: 'base', prefix: '' },
  _dir_list: { saltenv: 'base', prefix: '' },
  _symlink_list: { saltenv: 'base', prefix: '' },
  _file_find: { path: 'body', saltenv: 'base' },
  _file_hash: { path: 'body', saltenv: 'base' },
  _file_hash_and_stat: { path: 'body', saltenv: 'base' },
  _serve_file: { path: 'body', saltenv: 'base', loc: 0 },
};
/** Bound to an id; these releases send it and nothing that proves it. */
const withId: Record<string, PlainDict> = {
  _pillar: { grains: { forged: 'yes' }, saltenv: 'base', ver: '2' },
  _return: { jid, fun: 'test.echo', return: 'forged', retcode: 0 },
  _syndic_return: { load: [{ id: 'm', jid, fun: 'test.echo', return: { other: { return: 'forged' } } }] },
};
const withToken: Record<string, PlainDict> = {
  _ext_nodes: { opts: {} },
  _master_tops: { opts: {} },
  _mine: { data: { forged: 1 } },
  _mine_get: { tgt: '*', fun: 'test.ping' },
  _mine_delete: { fun: 'test.ping' },
  _mine_flush: {},
  _file_recv: { path: ['a'], loc: 0, data: 'x' },
  _minion_event: { tag: 'forged', data: {} },
  minion_pub: { tgt: '*', fun: 'test.ping', arg: [], ret: '' },
  minion_publish: { tgt: '*', fun: 'test.ping', arg: [], ret: '' },
  minion_runner: { fun: 'test.arg', arg: [] },
  pub_ret: { jid },
  revoke_auth: {},
  _register_resources: { resources: {} },
  no_such_command: {},
};

let fleet: Deployment;
let old: Record<0 | 2, OldMinion>;
const start = (id: string, generation: 0 | 2, key?: string): Promise<OldMinion> =>
  OldMinion.start({ id, generation, version: 'x', requests: fleet.ports.requests, ...(key ? { key } : {}) });
const stored = async (): Promise<unknown> =>
  JSON.parse((await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout);

beforeAll(async () => {
  fleet = await Deployment.create({
    masterConfig: "minimum_auth_version: 0\npeer: {'.*': ['.*']}\npeer_run: {'.*': ['.*']}\nfile_recv: True",
  });
  writeFileSync(fleet.path('srv/salt/body'), 'the body\n');
  await fleet.startMaster();
  old = { 0: await start('p0', 0), 2: await start('p2', 2) };
  fleet.startMinion('new');
  await fleet.answering('new');
});
afterAll(async () => {
  for (const minion of Object.values(old ?? {})) minion.stop();
  await fleet?.destroy();
});

describe.each([0, 2] as const)('generation %i', (generation) => {
  const unproven = (cmd: string, load: PlainDict, id?: string): Promise<Value> =>
    old[generation].ask({ cmd, ...load, ...(id ? { id } : {}) }, true);
  const own = `p${generation}`;

  it.each(Object.entries(forAll))('%s is answered without id and token', async (cmd, load) => {
    const answer = await unproven(cmd, load);
    expect(answer).not.toBe('bad load');
    expect(await old[generation].ask({ cmd, ...load, id: own })).toEqual(answer);
    expect(await unproven(cmd, load, 'nobody')).toEqual(answer);
  });
  it('a file arrives whole', async () => {
    expect(await unproven('_serve_file', forAll['_serve_file'] as PlainDict)).toMatchObject({ data: 'the body\n' });
  });

  it.each([...Object.entries(withId), ...Object.entries(withToken)])('%s needs an id', async (cmd, load) => {
    expect(await unproven(cmd, load)).toBe('bad load');
    expect(await unproven(cmd, load, 'nobody')).toBe('bad load');
  });
  it.each(Object.entries(withToken))('%s needs a token', async (cmd, load) => {
    expect(await unproven(cmd, load, own)).toBe('bad load');
  });
  it.each([...Object.entries(withId), ...Object.entries(withToken)])(
    '%s is refused with the token of another',
    async (cmd, load) => {
      expect(await old[generation].ask({ cmd, ...load, id: generation === 0 ? 'p2' : 'p0' })).toBe('bad load');
      expect(await old[generation].ask({ cmd, ...load, id: 'new' })).toBe('bad load');
    },
  );
  it('nothing that is open to all takes a wrong token', async () => {
    expect(await old[generation].ask({ cmd: '_file_envs', id: 'new' })).toBe('bad load');
  });

  it('a minion that uses P3 cannot be impersonated in an older protocol', async () => {
    expect(await unproven('_return', withId['_return'] as PlainDict, 'new')).toBe('bad load');
    expect(await stored()).toEqual({});
    // Only its owner can read the answer; the grains that came with the question are not kept.
    expect(await unproven('_pillar', withId['_pillar'] as PlainDict, 'new')).toHaveProperty('key');
    expect((await fleet.salt('-G', 'forged:yes', '--preview-target')).stdout).not.toContain('new');
  });
  it('one that does not use P3 can be', async () => {
    expect(await unproven('_pillar', withId['_pillar'] as PlainDict, own)).toHaveProperty('key');
    expect((await fleet.salt('-G', 'forged:yes', '--preview-target')).stdout).toContain(own);
  });
});

describe('after a restart of the master', () => {
  beforeAll(async () => {
    await fleet.minion('new').stop();
    await fleet.master.stop();
    await fleet.startMaster();
    await old[0].signIn();
  });

  it('a request under the AES key of before is refused and named in the log', async () => {
    expect(await old[2].ask({ cmd: '_file_envs' }, true)).toBe('bad load');
    await eventually('the reason in the log', () => /sealed with the AES key of before/.test(fleet.master.output()));
  });
  it('it is still known which minions use P3', async () => {
    expect(await old[0].ask({ cmd: '_return', id: 'new', ...withId['_return'] }, true)).toBe('bad load');
    expect(await stored()).toEqual({});
  });

  it('a minion that was downgraded is trusted again after its first token', async () => {
    const downgraded = await start('new', 2, readFileSync(fleet.path('new/pki/minion.pem'), 'utf8'));
    try {
      const load = { cmd: '_return', id: 'new', ...withId['_return'], return: 'mine' };
      expect(await downgraded.ask(load, true)).toBe('bad load');
      expect(await downgraded.ask({ cmd: '_minion_event', id: 'new', tag: 'started', data: {} })).toBeNull();
      expect(await downgraded.ask(load, true)).toBeNull();
      expect(await stored()).toEqual({ new: 'mine' });
    } finally {
      downgraded.stop();
    }
  });
});
