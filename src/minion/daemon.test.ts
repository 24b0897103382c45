import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildJobProcess, type TestJobProcess } from '../../test/integration/minion-job-process.ts';
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { memoryLogger } from '../base/log/testing.ts';
import { isAlive } from '../engine/exec/index.ts';
import type { Transport } from '../protocol/wire/transport.ts';
import { MinionDaemon } from './daemon.ts';
import { loadIdentity } from './link/identity.ts';
import { eventually, FakeMaster, testFolder, testKeys, testOpts } from './link/testing.ts';

const module = `
export function echo(value) { return value; }
export function facts() { return [this.id, this.grains.role, this.pillar.from]; }
export async function wait() { this.progress('working'); await new Promise(() => setInterval(() => {}, 1000)); }
export async function ask() { return this.minion.masterRequest({ cmd: '_mine_get', tgt: '*' }); }
export function pid() { return process.pid; }
`;

let built: TestJobProcess;
let folder: ReturnType<typeof testFolder>;
let masters: Record<string, FakeMaster>;
const daemons: MinionDaemon[] = [];

beforeAll(async () => {
  built = await buildJobProcess({ 'mine.mjs': module });
});
afterAll(() => built.remove());
beforeEach(() => {
  folder = testFolder();
  mkdirSync(join(folder.path, 'pki'));
  writeFileSync(join(folder.path, 'pki', 'minion.pem'), testKeys.minion.pem, { mode: 0o400 });
  writeFileSync(join(folder.path, 'pki', 'minion.pub'), testKeys.minion.pub);
  masters = { one: new FakeMaster() };
});
afterEach(async () => {
  for (const daemon of daemons.splice(0)) {
    await daemon.pool.stop('end');
    await daemon.stop();
  }
  folder.remove();
});

/** Host names are those of the masters; `same:x` is another name of x. */
const network = (): Transport => {
  const at = (host: string) => masters[host] ?? Object.values(masters)[0]!;
  const any = Object.values(masters)[0]!.transport;
  return {
    ...any,
    dial: (options) => at(options.host).transport.dial(options),
    subscribe: (options) => at(options.host).transport.subscribe(options),
  };
};

async function start(overrides: Record<string, Value> = {}) {
  const opts = testOpts(
    folder.path,
    newDict(
      Object.entries({
        master: Object.keys(masters),
        module_dirs: [built.modules],
        grains: { role: 'web' },
        random_reauth_delay: 0,
        return_retry_tries: 1,
        ...overrides,
      }),
    ),
  );
  const memory = memoryLogger();
  const daemon = new MinionDaemon({
    opts,
    log: memory.log,
    identity: await loadIdentity(opts),
    transport: network(),
    jobProcess: built.entry,
  });
  daemons.push(daemon);
  let fatal: Error | undefined;
  await daemon.start((error) => {
    fatal = error;
  });
  return { daemon, memory, opts, fatal: () => fatal };
}

let counter = 0;
const nextJid = () => `202001010000000${String(++counter).padStart(5, '0')}`;
const returns = (master: FakeMaster) => master.requests.filter((load) => load['cmd'] === '_return');
async function ask(master: FakeMaster, fun: Value, arg: Value[] = []): Promise<PlainDict> {
  const jid = nextJid();
  master.publish(newDict(Object.entries({ fun, arg, tgt: '*', tgt_type: 'glob', jid, ret: '', user: 'root' })));
  await eventually(() => returns(master).some((load) => load['jid'] === jid));
  return returns(master).find((load) => load['jid'] === jid)!;
}

describe('the daemon', () => {
  it('answers quick functions immediately and runs the others in processes', async () => {
    const { daemon } = await start();
    await eventually(() => daemon.links[0]!.ready);
    const { one } = masters as { one: FakeMaster };
    expect({ ...(await ask(one, 'test.ping')) }).toMatchObject({
      id: 'm1',
      return: true,
      retcode: 0,
      success: true,
      fun: 'test.ping',
      fun_args: [],
      user: 'root',
    });
    expect(daemon.pool.running()).toEqual([]);
    expect((await ask(one, 'mine.facts'))['return']).toEqual(['m1', 'web', 'master']);
    expect((await ask(one, 'mine.pid'))['return']).not.toBe(process.pid);
    one.handle = (load) => (load['cmd'] === '_mine_get' ? 'mined' : null);
    expect((await ask(one, 'mine.ask'))['return']).toBe('mined');
    expect((await ask(one, ['mine.facts', 'mine.echo'], [[], ['x']]))['return']).toEqual(
      newDict([
        ['mine.facts', ['m1', 'web', 'master']],
        ['mine.echo', 'x'],
      ]),
    );
  });

  it('shows a running job, reports its life cycle to a Halite master, and kills it reliably', async () => {
    const { daemon, opts } = await start();
    await eventually(() => daemon.links[0]!.ready);
    const { one } = masters as { one: FakeMaster };
    const jid = nextJid();
    one.publish(
      newDict(Object.entries({ fun: 'mine.wait', arg: [], tgt: 'm1', tgt_type: 'glob', jid, ret: '', user: 'root' })),
    );
    const file = join(opts.cachedir, 'proc', jid);
    await eventually(() => existsSync(file));
    const [running] = await daemon.running();
    expect(running?.shown).toMatchObject({ jid, fun: 'mine.wait', tgt: 'm1', user: 'root' });
    const tags = () => one.requests.map((load) => String(load['tag'])).filter((tag) => tag.startsWith('halite/job/'));
    await eventually(() => tags().length >= 2);
    expect(tags()).toEqual([`halite/job/${jid}/started/m1`, `halite/job/${jid}/progress/m1`]);
    expect((await ask(one, 'test.ping'))['return']).toBe(true);
    expect(await daemon.signalJob(jid, 9)).toBe(`Signal 9 sent to job ${jid} at pid ${running!.pid}`);
    expect(isAlive(running!.pid)).toBe(false);
    await eventually(() => returns(one).some((load) => load['jid'] === jid));
    expect(returns(one).find((load) => load['jid'] === jid)).toMatchObject({ success: false, retcode: 137 });
    await eventually(() => !existsSync(file));
    expect(await daemon.signalJob(jid, 9)).toBe('');
  });

  it('never sends life-cycle messages to a real Salt master', async () => {
    masters['one']!.halite = false;
    const { daemon } = await start();
    await eventually(() => daemon.links[0]!.ready);
    const { one } = masters as { one: FakeMaster };
    const jid = nextJid();
    one.publish(
      newDict(Object.entries({ fun: 'mine.wait', arg: [], tgt: '*', tgt_type: 'glob', jid, ret: '', user: 'root' })),
    );
    await eventually(async () => (await daemon.running()).length === 1);
    const seen = performance.now();
    await eventually(() => performance.now() - seen > 300);
    expect(one.requests.some((load) => String(load['tag']).startsWith('halite/'))).toBe(false);
    await daemon.signalJob(jid, 9);
  });

  it('keeps results while the master is unreachable and delivers them afterwards', async () => {
    const { daemon, opts } = await start();
    await eventually(() => daemon.links[0]!.ready);
    const { one } = masters as { one: FakeMaster };
    one.subscriber?.onState('disconnected', 'gone');
    one.down = true;
    const jid = nextJid();
    one.publish(
      newDict(Object.entries({ fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', jid, ret: '', user: 'root' })),
    );
    const spool = join(opts.cachedir, 'halite', 'spool');
    await eventually(() => readdirSync(spool).length === 1);
    one.down = false;
    one.subscriber?.onState('connected', '');
    await eventually(() => returns(one).some((load) => load['jid'] === jid));
    await eventually(() => readdirSync(spool).length === 0);
  });

  it('sends each result to the master of the job, and a job that arrives from both runs once', async () => {
    masters = { one: new FakeMaster(), two: new FakeMaster() };
    const { daemon } = await start();
    await eventually(() => daemon.links.length === 2 && daemon.links.every((link) => link.ready));
    await ask(masters['two']!, 'test.ping');
    expect([returns(masters['one']!).length, returns(masters['two']!).length]).toEqual([0, 1]);
    const job = newDict(
      Object.entries({ fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', jid: nextJid(), ret: '', user: 'root' }),
    );
    masters['one']!.publish(job);
    masters['two']!.publish(job);
    await ask(masters['one']!, 'test.ping');
    await ask(masters['two']!, 'test.ping');
    const all = [...returns(masters['one']!), ...returns(masters['two']!)];
    expect(all.filter((load) => load['jid'] === job['jid'])).toHaveLength(1);
  });

  it('uses a master that is listed with two names once', async () => {
    masters = { localhost: new FakeMaster() };
    const { daemon, memory } = await start({ master: ['localhost', '127.0.0.1', 'localhost'] });
    expect(daemon.links).toHaveLength(2);
    await eventually(() => daemon.links.filter((link) => link.state === 'stopped').length === 1);
    expect(memory.lines.filter((line) => line.includes('used once') || line.includes('the same machine'))).toHaveLength(
      2,
    );
    expect(daemon.links.filter((link) => link.ready)).toHaveLength(1);
  });

  it('ends only when its last master refuses it permanently', async () => {
    masters = { one: new FakeMaster(), two: new FakeMaster() };
    writeFileSync(join(folder.path, 'pki', 'minion_master.pub'), testKeys.master.pub);
    masters['one']!.decision = false;
    const { daemon, fatal } = await start();
    await eventually(() => daemon.links[0]!.state === 'stopped' && daemon.links[1]!.ready);
    expect(fatal()).toBeUndefined();
    masters['two']!.decision = false;
    const second = await start();
    await eventually(() => second.fatal() !== undefined);
    expect(second.fatal()).toMatchObject({ code: 'auth.denied' });
  });
});
