// Returners: the sources of their options, messages for invalid ones, and the lifetime of sessions.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { builtin } from '../../../extend/loader/builtin.gen.ts';
import { Loader } from '../../../extend/loader/index.ts';
import type { BuiltinTable } from '../../../extend/loader/kinds.ts';
import { defineReturner, p, type Returner, type ReturnerSession } from '../../../extend/sdk/index.ts';
import {
  type OpenReturner,
  openReturner,
  ReturnerProcess,
  ReturnerSessions,
  resolveOptions,
  returnerNames,
} from './index.ts';

const options = {
  host: p.string({ default: 'salt', doc: '' }),
  port: p.int({ default: 3306, doc: '' }),
  tls: p.bool({ default: true, doc: '' }),
  profile: p.string({ default: null, doc: '' }),
};
const spec = (open: (values: Record<string, unknown>) => ReturnerSession = () => ({ save: async () => undefined })) =>
  defineReturner({ name: 'fake', doc: '', options, open: (values) => open(values) });

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function request(opts: Record<string, Value>, more: Partial<OpenReturner> = {}): OpenReturner {
  const signal = new AbortController().signal;
  return { id: 'm1', opts, grains: newDict(), pillar: newDict(), log: silent, signal, ...more };
}

const loaderWith = (
  returners: Record<string, Returner>,
  opts: Record<string, Value> = {},
  more: BuiltinTable = {},
): Loader =>
  new Loader({
    opts: () => opts,
    grains: () => newDict(),
    log: silent,
    userCode: 'import',
    builtin: {
      ...more,
      returners: Object.fromEntries(
        Object.entries(returners).map(([name, returner]) => [name, { load: async () => ({ default: returner }) }]),
      ),
    },
  });

const dict = (value: Record<string, Value>): PlainDict => newDict(Object.entries(value));

describe('options of returners', () => {
  const host = (opts: Record<string, Value>, more: Partial<OpenReturner> = {}) =>
    resolveOptions(spec(), request(opts, more)).values['host'];

  it('come from flat and nested names, with and without the word returner', () => {
    expect(host({})).toBe('salt');
    expect(host({ 'fake.host': 'a' })).toBe('a');
    expect(host({ fake: dict({ host: 'b' }) })).toBe('b');
    expect(host({ 'returner.fake.host': 'c' })).toBe('c');
    expect(host({ 'returner.fake': dict({ host: 'd' }) })).toBe('d');
    expect(host({ 'fake.host': 'None' })).toBe('salt');
  });

  it('come from another profile, and from the default one where that has no value', () => {
    const opts = { 'fake.host': 'usual', 'fake.port': 1, 'alternative.fake.host': 'other' };
    expect(resolveOptions(spec(), request(opts, { config: 'alternative' })).values).toMatchObject({
      host: 'other',
      port: 1,
    });
    expect(host({ 'alternative.fake': dict({ host: 'nested' }) }, { config: 'alternative' })).toBe('nested');
    expect(host(opts, { config: 'alternative', kwargs: dict({ host: 'asked' }) })).toBe('asked');
  });

  it('come from grains, pillar and the master in the pillar, options first', () => {
    expect(host({}, { pillar: dict({ 'fake.host': 'pillar' }) })).toBe('pillar');
    expect(host({}, { pillar: dict({ master: dict({ 'fake.host': 'master' }) }) })).toBe('master');
    expect(host({ 'fake.host': 'opts' }, { grains: dict({ 'fake.host': 'grain' }) })).toBe('opts');
    expect(host({ 'fake.profile': 'work', work: dict({ 'fake.host': 'profiled' }) })).toBe('profiled');
  });

  it('keep false and 0, and have the declared type', () => {
    const { values } = resolveOptions(spec(), request({ 'fake.tls': false, 'fake.port': '3307' }));
    expect(values).toMatchObject({ tls: false, port: 3307 });
    expect(() => resolveOptions(spec(), request({ 'fake.port': 'many' }))).toThrow(
      "The option fake.port must be an integer, not 'many'",
    );
  });

  it('are reported when they are mistyped, and only then', () => {
    const warnings = (opts: Record<string, Value>, kwargs?: PlainDict) =>
      resolveOptions(spec(), request(opts, kwargs ? { kwargs } : {})).warnings;
    expect(warnings({ 'fake.hots': 'x' })).toEqual(["The option fake.hots is not known; did you mean 'host'?"]);
    expect(warnings({ 'fake.unix_socket': 'for the execution module' })).toEqual([]);
    expect(warnings({}, dict({ prot: 1 }))).toEqual(["The returner fake has no option 'prot'; did you mean 'port'?"]);
  });

  it('reports which options the job gave', () => {
    const kwargs = dict({ host: 'elsewhere' });
    const { fromJob, values } = resolveOptions(spec(), request({ 'fake.host': 'here', 'fake.port': 1 }, { kwargs }));
    expect([...fromJob]).toEqual(['host']);
    expect(values).toMatchObject({ host: 'elsewhere', port: 1 });
  });
});

describe('opening returners', () => {
  it('reports what is missing', async () => {
    const loader = loaderWith({ fake: spec(), broken: { ...spec(), available: () => 'no driver' } });
    await expect(openReturner(loader, 'fak', request({}))).rejects.toThrow(
      "Returner fak could not be loaded: 'fak.returner' is not available. Did you mean 'fake'?",
    );
    await expect(openReturner(loader, 'broken', request({}))).rejects.toThrow(
      'Returner broken could not be loaded: no driver',
    );
  });

  it('stops returners that forward to themselves', async () => {
    const loop = defineReturner({ name: 'loop', doc: '', options: {}, open: (_, ctx) => ctx.open('loop') });
    await expect(openReturner(loaderWith({ loop }), 'loop', request({}))).rejects.toThrow('to itself');
  });

  it('lets returners show and render', async () => {
    const spoken: Value[] = [];
    const showing = defineReturner({
      name: 'showing',
      doc: '',
      options: {},
      open: (_, ctx) => ({
        async save(ret) {
          spoken.push(await ctx.show(ret, 'nested'), await ctx.render!('#!jinja\n{{ id }} on {{ grains.os }}', ret));
        },
      }),
    });
    const { outputters, renderers } = builtin;
    const loader = loaderWith({ showing }, {}, { outputters: outputters!, renderers: renderers! });
    const session = await openReturner(loader, 'showing', request({}, { grains: dict({ os: 'Debian' }) }));
    await session.save(dict({ id: 'web1' }));
    expect(spoken).toEqual([expect.stringContaining('id:\n    web1'), 'web1 on Debian']);
  });

  it('accepts plain functions of users with Salt names', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'halite-returner-'));
    try {
      await writeFile(
        join(folder, 'mine.mjs'),
        `const kept = new Map(); const loads = new Map();
         export function returner(ret) { kept.set(ret.id, ret); }
         export function save_load(jid, load) { loads.set(jid, load); }
         export function get_load(jid) { return loads.get(jid); }
         export function get_jid(jid) { return Object.fromEntries([...kept].filter(([, ret]) => ret.jid === jid)); }
         export function get_minions() { return [...kept.keys(), this.id]; }`,
      );
      const opts = { returner_dirs: [folder] };
      const session = await openReturner(loaderWith({}, opts), 'mine', request(opts));
      await session.save(dict({ id: 'web1', jid: '1', return: true }));
      await session.jobCache?.saveLoad('1', dict({ fun: 'test.ping' }), ['web1']);
      expect(await session.jobCache?.load('1')).toMatchObject({ fun: 'test.ping' });
      expect(await session.jobCache?.load('2')).toBeUndefined();
      expect([...(await session.jobCache!.returns('1')).keys()]).toEqual(['web1']);
      expect(await session.jobCache?.minions()).toEqual(['web1', 'm1']);
      expect(session.saveEvents).toBeUndefined();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('sessions', () => {
  function counted(save: (ret: PlainDict) => Promise<void> = async () => undefined) {
    const seen = { opened: 0, closed: 0 };
    const returner = spec(() => {
      seen.opened++;
      return { save, close: async () => void seen.closed++ };
    });
    return { seen, loader: loaderWith({ fake: returner }) };
  }

  it('are reused for the same options, and closed when idle', async () => {
    const { seen, loader } = counted();
    const sessions = new ReturnerSessions(
      () => loader,
      () => request({}),
      { idleMs: 1 },
    );
    const once = () => sessions.save({ names: ['fake'] }, dict({ jid: '1' }));
    expect((await Promise.all([once(), once()])).flat()).toEqual([]);
    expect(seen.opened).toBe(1);
    await expect.poll(() => seen.closed).toBe(1);
    await sessions.save({ names: ['fake'], config: 'other' }, dict({ jid: '2' }));
    expect(seen.opened).toBe(2);
  });

  it('report what failed, and try once more with a new connection after a success', async () => {
    let fail = true;
    let calls = 0;
    const { seen, loader } = counted(async () => {
      calls++;
      if (fail) throw new Error('connection lost');
    });
    const sessions = new ReturnerSessions(
      () => loader,
      () => request({}),
    );
    const choice = { names: ['fake', 'nowhere'] };
    expect(await sessions.save(choice, dict({ jid: '1' }))).toEqual([
      { returner: 'fake', error: 'connection lost' },
      { returner: 'nowhere', error: "Returner nowhere could not be loaded: 'nowhere.returner' is not available." },
    ]);
    fail = false;
    expect(await sessions.save({ names: ['fake'] }, dict({ jid: '2' }))).toEqual([]);
    fail = true;
    calls = 0;
    expect(await sessions.save({ names: ['fake'] }, dict({ jid: '3' }))).toHaveLength(1);
    expect(calls).toBe(2);
    await sessions.close();
    expect(seen.closed).toBe(seen.opened);
  });

  it('end a save that does not finish', async () => {
    const { loader } = counted(() => new Promise(() => undefined));
    const sessions = new ReturnerSessions(
      () => loader,
      () => request({}),
      { saveMs: 5 },
    );
    expect((await sessions.save({ names: ['fake'] }, newDict()))[0]?.error).toContain('did not finish within');
  });
});

describe('names of returners', () => {
  it('come as lists and with commas, each once', () => {
    expect(returnerNames('mysql, redis', ['redis', 'smtp'], '', undefined, null)).toEqual(['mysql', 'redis', 'smtp']);
  });
});

describe('the value for returners', () => {
  it("is Salt's, in its order, and differs from that for the master", async () => {
    const got: PlainDict[] = [];
    const returner = spec(() => ({ save: async (ret) => void got.push(ret) }));
    const process = new ReturnerProcess(
      () => loaderWith({ fake: returner }),
      () => request({}),
    );
    const sent = dict({ cmd: '_return', id: 'm1', success: true, return: 1, retcode: 0, jid: '1', fun: 'state.apply' });
    await process.save({ names: ['fake'] }, dict({ ...sent, fun_args: [], out: 'highstate', returners: newDict() }));
    await process.save({ names: ['fake'] }, dict({ ...sent, success: false, user: 'root', out: 'nested' }));
    expect(got.map((ret) => Object.keys(ret).join(' '))).toEqual([
      'success return retcode jid fun fun_args id',
      'success return retcode out jid fun user id',
    ]);
    await process.settle();
  });
});
