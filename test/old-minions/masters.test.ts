// A Halite minion under real masters of old releases: what it asks of them, and what they ask of it.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { big, type OldPeer, oldPeers, sha256, writeTree } from '../support/old-fleet.ts';
import { oldReleases } from '../support/old-releases.ts';

const masters = oldPeers(['2019.2.8', '3002.9', '3004.2', '3005.5', '3006.9']);

for (const peer of masters)
  describe.skipIf(!peer.implementation)(`a Halite minion under Salt ${peer.version}`, () => underMaster(peer));

function underMaster({ version, implementation }: OldPeer): void {
  const { generation } = oldReleases[version];
  let fleet: Deployment;
  let first: Record<string, unknown>;

  const startMinion = (): unknown => fleet.startMinion('m1', undefined, `minimum_master_version: ${generation}`);
  /** `--static` of these releases puts the exit code into results that are maps. */
  async function ask(...command: string[]): Promise<unknown> {
    const { m1: answer } = await fleet.json('m1', ...command, '-t', '50');
    if (typeof answer === 'object' && answer !== null && 'retcode' in answer) delete answer.retcode;
    return answer;
  }

  /** A P0 master proves nothing at the first contact: its key is put there by hand. */
  function knowMaster(): void {
    mkdirSync(fleet.path('m1/pki'), { recursive: true });
    writeFileSync(fleet.path('m1/pki/minion_master.pub'), readFileSync(fleet.path('etc/pki/master/master.pub')));
  }

  beforeAll(async () => {
    if (!implementation) return;
    fleet = await Deployment.create({ master: implementation });
    writeTree(fleet);
    const events = `event_return: rawfile_json\nrawfile_json.filename: ${fleet.path('events.json')}\n`;
    writeFileSync(fleet.path('etc/master.d/events.conf'), events);
    await fleet.startMaster();
    if (generation === 0) knowMaster();
    startMinion();
    await fleet.answering('m1');
    // Each command of Salt's takes a second to start: what needs no order is asked in one.
    const functions = 'test.ping,pillar.items,cp.list_master,cp.get_file,mine.send,event.send';
    const files = [',', ',', ',', 'salt://big', fleet.path('m1/big')];
    const mine = [',', 'greeting', 'mine_function=test.echo', 'hello'];
    const event = [',', 'tests/new', '{"from": "halite"}'];
    first = (await ask(functions, ...files, ...mine, ...event)) as Record<string, unknown>;
  });
  afterAll(async () => {
    await fleet?.destroy();
  });

  it('test.ping', () => expect(first['test.ping']).toBe(true));
  it('pillar', () => expect(first['pillar.items']).toMatchObject({ who: 'world', deep: { er: [1, { last: 'm1' }] } }));
  it('files', async () => {
    expect(sha256(readFileSync(fleet.path('m1/big')))).toBe(sha256(big));
    // A master that has just started may still be making its list.
    let list: unknown = first['cp.list_master'];
    await eventually('the list of files', async () => {
      if (Array.isArray(list) && list.length === 0) list = await ask('cp.list_master');
      return Array.isArray(list) && list.length > 0;
    });
    expect(list).toEqual(expect.arrayContaining(['big', 'body', 'templates/greeting']));
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
    // Jobs carry the tag too, and the file's last line may be half written.
    const file = fleet.path('events.json');
    const heard = (): unknown =>
      (existsSync(file) ? readFileSync(file, 'utf8') : '')
        .split('\n')
        .find(
          (line) => line.includes('"tag": "tests/new"') && line.includes('"from": "halite"') && !line.includes('"jid"'),
        );
    // The process of a real master that writes events may begin to listen, and make its file, after the first jobs.
    await eventually('the event', async () => {
      if (heard() === undefined) await ask('event.send', 'tests/new', '{"from": "halite"}');
      return heard() !== undefined;
    });
    expect(heard()).toContain('"id": "m1"');
  });
  it('returns in the job cache', async () => {
    const { stdout } = await fleet.salt('m1', 'test.echo', 'kept', '--async');
    const jid = /\d{20}/.exec(stdout)?.[0] ?? stdout;
    await eventually(
      'the result to be stored',
      async () => (await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout.includes('kept'),
      { timeoutMs: 120_000 },
    );
  });
  it('a restart of the minion', async () => {
    await fleet.minion('m1').stop();
    startMinion();
    await fleet.answering('m1');
    expect(await ask('cp.get_file_str', 'salt://body')).toBe('the body\n');
  });
  it('a restart of the master', async () => {
    const connected = (): number => fleet.minion('m1').output().split('connected to the master again').length;
    const before = connected();
    await fleet.master.stop('SIGKILL');
    await fleet.startMaster();
    // A ping without an answer takes as long as gather_job_timeout.
    await eventually('the minion to be connected again', () => connected() > before);
    await fleet.answering('m1');
    expect(await ask('cp.get_file_str,pillar.get', 'salt://body', ',', 'who')).toEqual({
      'cp.get_file_str': 'the body\n',
      'pillar.get': 'world',
    });
  });
}
