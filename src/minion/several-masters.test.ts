// The daemon with several masters in memory: which of them it uses, and whom it believes what.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildJobProcess, type TestJobProcess } from '../../test/integration/minion-job-process.ts';
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { memoryLogger } from '../base/log/testing.ts';
import type { Transport } from '../protocol/wire/transport.ts';
import { MinionDaemon } from './daemon.ts';
import { loadIdentity } from './link/identity.ts';
import { eventually, FakeMaster, testFolder, testKeys, testOpts } from './link/testing.ts';

const module = `
import { readFileSync } from 'node:fs';
export function masters() { return JSON.parse(readFileSync(this.opts.masters_file, 'utf8')); }
`;

let built: TestJobProcess;
let folder: ReturnType<typeof testFolder>;
let masters: Record<string, FakeMaster>;
const daemons: MinionDaemon[] = [];

beforeAll(async () => {
  built = await buildJobProcess({ 'which.mjs': module });
});
afterAll(() => built.remove());
beforeEach(() => {
  folder = testFolder();
  mkdirSync(join(folder.path, 'pki'));
  writeFileSync(join(folder.path, 'pki', 'minion.pem'), testKeys.minion.pem, { mode: 0o400 });
  writeFileSync(join(folder.path, 'pki', 'minion.pub'), testKeys.minion.pub);
  masters = { one: new FakeMaster(), two: new FakeMaster(), three: new FakeMaster() };
});
afterEach(async () => {
  for (const daemon of daemons.splice(0)) {
    await daemon.pool.stop('end');
    await daemon.stop();
  }
  folder.remove();
});

const network = (): Transport => ({
  ...masters['one']!.transport,
  dial: (options) => masters[options.host]!.transport.dial(options),
  subscribe: (options) => masters[options.host]!.transport.subscribe(options),
});

async function start(overrides: Record<string, Value> = {}) {
  const given = {
    ...{ master: Object.keys(masters), module_dirs: [built.modules], random_reauth_delay: 0, mine_enabled: false },
    ...{ master_alive_interval: 0.4, return_retry_timer: 0.05, return_retry_timer_max: 0.05, ...overrides },
  };
  const opts = testOpts(folder.path, newDict(Object.entries(given)));
  const memory = memoryLogger();
  const daemon = new MinionDaemon({
    ...{ opts, log: memory.log, identity: await loadIdentity(opts), transport: network(), jobProcess: built.entry },
  });
  daemons.push(daemon);
  let fatal: Error | undefined;
  await daemon.start((error) => {
    fatal = error;
  });
  return { daemon, memory, fatal: () => fatal };
}

const used = (daemon: MinionDaemon): string[] => daemon.links.filter((link) => link.ready).map(({ name }) => name);
const uses = (daemon: MinionDaemon, ...names: string[]): Promise<void> =>
  eventually(() => JSON.stringify(used(daemon)) === JSON.stringify(names.map((name) => `${name}:4506`)));
/** Answers nothing, and no connection shows it. */
const freeze = (name: string, down = true): void => {
  masters[name]!.down = down;
};
function kill(name: string): void {
  freeze(name);
  masters[name]!.subscriber?.onState('disconnected', 'gone');
}
const claim = (name: string, cluster: unknown): void => {
  masters[name]!.tamperInner = (inner) => {
    inner['cluster'] = cluster as Value;
  };
};
const member = (name: string, ...members: string[]): PlainDict =>
  newDict(Object.entries({ name: 'prod', member: name, members }));
/** It answers what a Halite master says beside jobs; `drained` names those that are to be stopped. */
function says(name: string, drained: ReadonlySet<string>, cluster?: PlainDict): void {
  const master = masters[name]!;
  master.tamperInner = (inner) => {
    inner['next_key'] = '';
    if (cluster) inner['cluster'] = cluster;
  };
  master.handle = ({ cmd }) =>
    cmd === '_master_key'
      ? newDict([
          ['next_key', ''],
          ['drained', drained.has(name)],
        ])
      : null;
}
const asked = (name: string): number => masters[name]!.requests.filter(({ cmd }) => cmd === '_master_key').length;
const returns = (name: string): PlainDict[] => masters[name]!.requests.filter((load) => load['cmd'] === '_return');
let counter = 0;
function publish(name: string): string {
  const jid = `202001010000000${String(++counter).padStart(5, '0')}`;
  const job = { fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', jid, ret: '', user: 'root' };
  masters[name]!.publish(newDict(Object.entries(job)));
  return jid;
}
const spooled = (): string[] =>
  readdirSync(join(folder.path, 'cache', 'halite', 'spool')).filter((file) => file.endsWith('.p'));

describe('failover', () => {
  it('uses the first master that accepts this minion, and the next one when it is lost', async () => {
    masters['one']!.decision = true;
    const { daemon } = await start({ master_type: 'failover' });
    await uses(daemon, 'two');
    expect(masters['three']!.signIns).toBe(0);
    kill('two');
    masters['one']!.decision = 'accept';
    await uses(daemon, 'one');
    kill('one');
    await uses(daemon, 'three');
  });

  it('notices a master that falls silent while its connection stays', async () => {
    const { daemon, memory } = await start({ master_type: 'failover' });
    await uses(daemon, 'one');
    freeze('one');
    await uses(daemon, 'two');
    expect(memory.lines.join('\n')).toMatch(/the master is lost.*one:4506.*no answer for/);
  });

  it('stays when the connection is only interrupted', async () => {
    const { daemon } = await start({ master_type: 'failover', master_alive_interval: 10 });
    await uses(daemon, 'one');
    const { one } = masters;
    one!.subscriber!.onState('disconnected', 'restart');
    one!.subscriber!.onState('connected', 'again');
    await eventually(() => one!.signIns >= 2);
    await uses(daemon, 'one');
    expect(masters['two']!.signIns).toBe(0);
  });

  it('returns to the first master when it answers again, and a result across the switch is not lost', async () => {
    const { daemon } = await start({ master_type: 'failover', master_failback: true, master_failback_interval: 0.1 });
    await uses(daemon, 'one');
    // Its result is refused while it ends: it goes to the next master as a copy.
    freeze('one');
    const jid = publish('one');
    await uses(daemon, 'two');
    await eventually(() => returns('two').some((load) => load['jid'] === jid));
    expect(returns('two').find((load) => load['jid'] === jid)).toMatchObject({ halite_for: 'one:4506' });
    expect(spooled()).toHaveLength(1);
    freeze('one', false);
    await uses(daemon, 'one');
    await eventually(() => returns('one').some((load) => load['jid'] === jid));
    await eventually(() => spooled().length === 0);
  });

  it('brings a result to the master that asked when it is back, also without using it again', async () => {
    const { daemon } = await start({ master_type: 'failover' });
    await uses(daemon, 'one');
    freeze('one');
    const jid = publish('one');
    await uses(daemon, 'two');
    await eventually(() => returns('two').some((load) => load['jid'] === jid));
    freeze('one', false);
    await eventually(() => returns('one').some((load) => load['jid'] === jid));
    expect(returns('one')[0]).not.toHaveProperty('halite_for');
    await eventually(() => spooled().length === 0);
    expect(used(daemon)).toEqual(['two:4506']);
  });

  it('leaves a master that is to be stopped while that one works, and does not go back before it is used again', async () => {
    const drained = new Set<string>();
    for (const name of Object.keys(masters)) says(name, drained);
    const { daemon, memory } = await start({
      ...{ master_type: 'failover', master_failback: true, master_failback_interval: 0.1 },
    });
    await uses(daemon, 'one');
    drained.add('one').add('two');
    await uses(daemon, 'three');
    const jid = publish('three');
    await eventually(() => returns('three').some((load) => load['jid'] === jid));
    // It is looked at again.
    const before = asked('one');
    await eventually(() => asked('one') >= before + 2);
    expect(memory.lines.join('\n')).not.toContain('back at the first master');
    drained.delete('one');
    await uses(daemon, 'one');
  });

  it('stays at a master that is to be stopped as long as there is no other', async () => {
    const drained = new Set(['one']);
    says('one', drained);
    freeze('two');
    freeze('three');
    const { daemon } = await start({ master_type: 'failover' });
    await uses(daemon, 'one');
    await eventually(() => asked('one') >= 3);
    const jid = publish('one');
    await eventually(() => returns('one').some((load) => load['jid'] === jid));
    await uses(daemon, 'one');
    freeze('three', false);
    await uses(daemon, 'three');
  });

  it('ends only when every master proves that it rejects this minion', async () => {
    writeFileSync(join(folder.path, 'pki', 'minion_master.pub'), testKeys.master.pub);
    for (const master of Object.values(masters)) master.decision = false;
    freeze('three');
    const { daemon, fatal } = await start({ master_type: 'failover' });
    await eventually(() => Object.values(masters).every(({ signIns }, at) => at === 2 || signIns >= 2));
    expect(fatal()).toBeUndefined();
    freeze('three', false);
    await eventually(() => fatal() !== undefined);
    expect(fatal()).toMatchObject({ code: 'auth.denied' });
    expect(used(daemon)).toEqual([]);
  });
});

it('distributed starts with the master that the id selects, then as failover', async () => {
  const names = Object.keys(masters);
  const first = crc32(Buffer.from('m1')) % names.length;
  const { daemon } = await start({ master_type: 'distributed' });
  await uses(daemon, names[first]!);
  kill(names[first]!);
  await uses(daemon, names[(first + 1) % names.length]!);
});

it('func asks the function at each connect, and again when it fails', async () => {
  const file = join(folder.path, 'masters.json');
  const { daemon, memory } = await start({ master: 'which.masters', master_type: 'func', masters_file: file });
  await eventually(() => memory.lines.some((line) => line.includes('The function that names the master failed')));
  writeFileSync(file, '"two"');
  await uses(daemon, 'two');
  writeFileSync(file, '["three:4506"]');
  kill('two');
  await uses(daemon, 'three');
});

it('retry_dns_count gives up a name that stays unknown, and the minion with the last one', async () => {
  masters['nowhere.invalid'] = new FakeMaster();
  const { fatal } = await start({ master: ['nowhere.invalid'], retry_dns: 0, retry_dns_count: 2 });
  await eventually(() => fatal() !== undefined);
  expect(fatal()).toMatchObject({ code: 'config.value', message: expect.stringContaining('nowhere.invalid') });
  expect(masters['nowhere.invalid'].signIns).toBe(0);
});

it('an unknown master_type stops the minion with a message', async () => {
  await expect(start({ master_type: 'fail-over' })).rejects.toMatchObject({
    code: 'config.value',
    message: expect.stringContaining('fail-over'),
  });
});

describe('a cluster', () => {
  it('members take results for each other, and two names of one member are used once', async () => {
    claim('one', member('m-a'));
    claim('two', member('m-b'));
    claim('three', member('m-a'));
    const { daemon, memory } = await start();
    await uses(daemon, 'one', 'two');
    await eventually(() => memory.lines.join('\n').includes('the same machine'));
    kill('one');
    const jid = publish('one');
    await eventually(() => returns('two').some((load) => load['jid'] === jid));
    expect(returns('two')[0]).not.toHaveProperty('halite_for');
    await eventually(() => spooled().length === 0);
  });

  it('a member that is to be stopped gets no results of the schedule while there are others', async () => {
    const drained = new Set<string>();
    says('one', drained, member('m-a'));
    says('two', drained, member('m-b'));
    const schedule = newDict([['often', newDict(Object.entries({ function: 'test.ping', seconds: 1 }))]]);
    const { daemon } = await start({ master: ['one', 'two'], schedule });
    await uses(daemon, 'one', 'two');
    const early = returns('two').length;
    await eventually(() => returns('one').length > 0);
    drained.add('one');
    await daemon.links[0]!.words.hearNow();
    expect(daemon.links[0]!.words.drained).toBe(true);
    await eventually(() => returns('two').length > early);
    // A master of an earlier version, and one that says nonsense, are used as before.
    for (const answer of ['', null, 7, newDict([['drained', 'yes']])]) {
      drained.clear();
      masters['one']!.handle = () => answer;
      await daemon.links[0]!.words.hearNow();
      expect(daemon.links[0]!.words.drained).toBe(false);
    }
  });

  const nonsense: [string, unknown][] = [
    ['a list', ['prod', 'm-a']],
    [
      'a name of another type',
      newDict([
        ['name', 7],
        ['member', 'm-a'],
        ['members', []],
      ]),
    ],
    [
      'a hostile name',
      newDict([
        ['name', '../prod'],
        ['member', 'm-a'],
        ['members', []],
      ]),
    ],
    ['members that are no addresses', member('m-a', 'one:4506', 'http://evil/')],
    ['members without a port', member('m-a', 'one')],
    ['far too many members', member('m-a', ...Array.from({ length: 5000 }, (_, at) => `h${at}:4506`))],
    [
      'members of another type',
      newDict([
        ['name', 'prod'],
        ['member', 'm-a'],
        ['members', 'one:4506'],
      ]),
    ],
  ];
  it.each(nonsense)('%s in place of the cluster is ignored', async (_, value) => {
    claim('one', value);
    claim('two', member('m-b'));
    masters = { one: masters['one']!, two: masters['two']! };
    const { daemon } = await start({ master_discover: true });
    await uses(daemon, 'one', 'two');
    expect(daemon.links.map((link) => link.credentials?.cluster?.name)).toEqual([undefined, 'prod']);
    kill('one');
    publish('one');
    await eventually(() => returns('two').length === 1);
    expect(returns('two')).toMatchObject([{ halite_for: 'one:4506' }]);
  });

  it('master_discover uses members that are not listed, and no more than that', async () => {
    claim('one', member('m-a', 'one:4506', 'two:4506'));
    const { daemon } = await start({ master: ['one'], master_discover: true });
    await uses(daemon, 'one', 'two');
    expect(masters['three']!.signIns).toBe(0);
    const plain = await start({ master: ['one'] });
    await uses(plain.daemon, 'one');
    expect(plain.daemon.links).toHaveLength(1);
  });
});
