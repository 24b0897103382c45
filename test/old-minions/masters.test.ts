// A Halite minion under real masters of old releases: what it asks of them, and what they ask of it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { big, type OldPeer, oldPeers, sha256, writeTree } from '../support/old-fleet.ts';
import { oldReleases } from '../support/old-releases.ts';

const masters = oldPeers(['2019.2.8', '3002.9', '3004.2', '3005.5', '3006.9']);

for (const peer of masters)
  describe.skipIf(!peer.implementation)(`a Halite minion under Salt ${peer.version}`, () => underMaster(peer));

function underMaster({ version, implementation }: OldPeer): void {
  const { generation } = oldReleases[version];
  let fleet: Deployment;
  let events: EventListener;
  let first: Record<string, unknown>;

  const startMinion = (): unknown => fleet.startMinion('m1', undefined, `minimum_master_version: ${generation}`);
  const ask = async (...command: string[]): Promise<unknown> => (await fleet.json('m1', ...command, '-t', '60'))['m1'];

  /** A P0 master proves nothing at the first contact: its key is put there by hand. */
  function knowMaster(): void {
    mkdirSync(fleet.path('m1/pki'), { recursive: true });
    writeFileSync(fleet.path('m1/pki/minion_master.pub'), readFileSync(fleet.path('etc/pki/master/master.pub')));
  }

  beforeAll(async () => {
    if (!implementation) return;
    fleet = await Deployment.create({ master: implementation });
    writeTree(fleet);
    await fleet.startMaster();
    if (generation === 0) knowMaster();
    startMinion();
    await fleet.answering('m1');
    events = await EventListener.start(fleet, implementation);
    // Each command of Salt's takes a second to start: what needs no order is asked in one.
    const functions = 'test.ping,pillar.items,cp.list_master,cp.get_file,mine.send,event.send';
    const files = [',', ',', ',', 'salt://big', fleet.path('m1/big')];
    const mine = [',', 'greeting', 'mine_function=test.echo', 'hello'];
    const event = [',', 'tests/new', '{"from": "halite"}'];
    first = (await ask(functions, ...files, ...mine, ...event)) as Record<string, unknown>;
  }, 180_000);
  afterAll(async () => {
    events?.stop();
    await fleet?.destroy();
  });

  it('test.ping', () => expect(first['test.ping']).toBe(true));
  it('pillar', () => expect(first['pillar.items']).toMatchObject({ who: 'world', deep: { er: [1, { last: 'm1' }] } }));
  it('files', () => {
    expect(first['cp.list_master']).toEqual(expect.arrayContaining(['big', 'body', 'templates/greeting']));
    expect(sha256(readFileSync(fleet.path('m1/big')))).toBe(sha256(big));
  });
  it('state.apply', async () => {
    const states = Object.values((await ask('state.apply')) as Record<string, { result: boolean }>);
    expect(states).toMatchObject([{ result: true }, { result: true }]);
    expect(readFileSync(fleet.path('m1/rendered'), 'utf8').trim()).toBe('hello world from m1');
    expect(readFileSync(fleet.path('m1/assigned'), 'utf8')).toBe('the body\n');
  });
  it('mine', async () => {
    expect(first['mine.send']).toBe(true);
    expect(await ask('mine.get', '*', 'greeting')).toEqual({ m1: 'hello' });
  });
  it('events', async () => {
    expect(first['event.send']).toBe(true);
    expect(await events.next('tests/new')).toMatchObject({ id: 'm1', data: { from: 'halite' } });
  });
  it('returns in the job cache', async () => {
    const { stdout } = await fleet.salt('m1', 'test.echo', 'kept', '--async');
    const jid = /\d{20}/.exec(stdout)?.[0] ?? stdout;
    await eventually(
      'the result to be stored',
      async () => (await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout.includes('kept'),
      { timeoutMs: 90_000 },
    );
  });
  it('a restart of the minion', async () => {
    await fleet.minion('m1').stop();
    startMinion();
    await fleet.answering('m1');
    expect(await ask('cp.get_file_str', 'salt://body')).toBe('the body\n');
  });
  it('a restart of the master', async () => {
    await fleet.master.stop('SIGKILL');
    await fleet.startMaster();
    await fleet.answering('m1');
    expect(await ask('cp.get_file_str,pillar.get', 'salt://body', ',', 'who')).toEqual({
      'cp.get_file_str': 'the body\n',
      'pillar.get': 'world',
    });
  });
}
