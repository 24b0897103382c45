// Real minions of every release before P3 on a Halite master: all that a minion asks of its master, per release.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { Deployment, runProgram } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { big, eachPeer, type OldPeer, oldPeers, sha256, writeTree } from '../support/old-fleet.ts';
import { OldMinion } from '../support/old-minion.ts';
import { oldVersions } from '../support/old-releases.ts';

const peers = oldPeers(oldVersions);
const here = peers.filter(({ implementation }) => implementation);
const ids = here.map(({ id }) => id);
/** Whom the others ask to be asked. */
const asked = ids.at(-1) ?? '';
const masterConfig = `minimum_auth_version: 0
file_recv: True
nodegroups:
  old: 'L@${ids.join(',')},'
  nested: 'N@old and not G@id:nobody'
  first: [${ids[0]}]
  rest: 'not N@first'
peer: {'.*': [test.ping]}
peer_run: {'.*': [test.arg]}
`;
let fleet: Deployment;
let events: EventListener;
type Answers = Record<string, unknown>;

/** Python is slow on a machine with two processors and eight minions. */
async function ask(...command: string[]): Promise<Answers> {
  const args = ['-t', '60', '--out=json', '--static', ...command];
  const { stdout, stderr } = await fleet.run('salt', args, { timeoutMs: 170_000 });
  const answers = JSON.parse(stdout === '' ? '{}' : stdout) as Answers;
  // Who did not answer is named there, with the reason.
  for (const line of stderr.split('\n')) {
    const id = ids.find((name) => line.includes(`${name}:`));
    if (id && !(id in answers)) answers[id] = new Error(line);
  }
  return answers;
}
/**
 * The quick retry is for 3005: it sends an event and the result of its job over one socket, and when both are answered at once it
 * may miss an answer ("Got events for closed stream") and sends again after this time.
 */
const options = 'hash_type: sha256\nmine_interval: 60\nreturn_retry_timer: 1\nreturn_retry_timer_max: 2';
const start = ({ id, implementation }: OldPeer): unknown =>
  implementation && fleet.startMinion(id, implementation, options);

type Check = (answer: unknown, peer: OldPeer) => void | Promise<void>;

/** A command for all of them at once, and what each must have answered. */
function everyRelease(name: string, command: () => Promise<Answers>, check: Check): void {
  describe(name, () => {
    let answers: Answers;
    beforeAll(async () => {
      answers = await command();
    });
    eachPeer(peers, (peer) => check(answers[peer.id], peer));
  });
}

/** Several functions in one job: each release starts one process for all of them. */
function together(
  questions: readonly (readonly [fun: string, args: readonly string[], check: Check])[],
  before: () => Promise<unknown> = async () => undefined,
): void {
  let answers: Record<string, Answers>;
  beforeAll(async () => {
    await before();
    const funs = questions.map(([fun]) => fun).join(',');
    const args = questions.flatMap(([, given], at) => (at === 0 ? given : [',', ...given]));
    answers = (await ask('*', funs, ...args)) as Record<string, Answers>;
  });
  for (const [fun, , check] of questions)
    describe(fun, () => eachPeer(peers, (peer) => check(answers[peer.id]?.[fun] ?? answers[peer.id], peer)));
}

/** The same command for each, with a file of its own; all at the same time. */
const apart = async (command: (id: string) => string[]): Promise<Answers> =>
  Object.assign({}, ...(await Promise.all(ids.map((id) => ask(id, ...command(id)))))) as Answers;

const states = (answer: unknown): { result: boolean; comment: string }[] =>
  Object.values(answer as Record<string, { result: boolean; comment: string }>);
const is =
  (expected: unknown): Check =>
  (answer) =>
    expect(answer).toEqual(expected);
const all = (...names: string[]): Check => is(expect.arrayContaining(names));

beforeAll(async () => {
  fleet = await Deployment.create({ masterConfig });
  writeTree(fleet);
  await fleet.startMaster();
  events = await EventListener.start(fleet);
  for (const peer of peers) start(peer);
  await fleet.answering(...ids);
});
afterAll(async () => {
  events?.stop();
  await fleet?.destroy();
});

describe('jobs', () => {
  everyRelease('test.ping', () => ask('*', 'test.ping'), is(true));
  everyRelease('nodegroup', () => ask('-N', 'old', 'test.ping'), is(true));
  everyRelease('nested nodegroup', () => ask('-N', 'nested', 'test.ping'), is(true));
  everyRelease(
    'negated nodegroup',
    () => ask('-N', 'rest', 'test.ping'),
    (answer, { id }) => expect(answer).toBe(id === ids[0] ? undefined : true),
  );
  everyRelease('grain and pillar', () => ask('-C', 'G@kernel:Linux and I@who:world', 'test.ping'), is(true));
  everyRelease('a job longer than the timeout', () => ask('*', 'test.sleep', '4', '-t', '2'), is(true));
});

describe('several functions in one job', () => {
  together([
    ['test.version', [], (answer, { version }) => expect(answer).toBe(version)],
    [
      'test.arg',
      ['1', 'two=[2, drei]', '盐'],
      is({ args: [1, '盐'], kwargs: expect.objectContaining({ two: [2, 'drei'] }) }),
    ],
    ['pillar.get', ['who'], is('world')],
    [
      'pillar.items',
      [],
      (answer, { id }) => expect(answer).toMatchObject({ who: 'world', deep: { er: [1, { last: id }] } }),
    ],
    ['test.exception', ['boom'], (answer) => expect(answer).toContain('boom')],
  ]);
});

describe('results stored', () => {
  everyRelease(
    'jobs.lookup_jid',
    async () => {
      const { stdout } = await fleet.salt('*', 'test.echo', 'kept', '--async');
      const jid = /\d{20}/.exec(stdout)?.[0] ?? stdout;
      let found: Answers = {};
      await eventually(
        'all results to be stored',
        async () => {
          found = JSON.parse((await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout) as Answers;
          return ids.every((id) => id in found);
        },
        { timeoutMs: 120_000, describe: () => JSON.stringify(found) },
      );
      return found;
    },
    (answer) => expect(answer).toBe('kept'),
  );
});

describe('files', () => {
  together([
    ['cp.list_master', [], all('big', 'body', 'templates/greeting', 'top.sls')],
    ['cp.list_master_dirs', [], all('empty', 'templates')],
    ['cp.list_master_symlinks', [], (answer) => expect(answer).toHaveProperty('link')],
    ['cp.list_states', [], all('rendered', 'assigned')],
    ['cp.hash_file', ['salt://body'], is({ hash_type: 'sha256', hsum: sha256('the body\n') })],
    ['cp.get_file_str', ['salt://body'], is('the body\n')],
  ]);
  const received = ({ id }: OldPeer, name: string): Buffer => readFileSync(fleet.path(id, name));
  // Braces in the name of the destination are rendered by each minion.
  const destination = (name: string): string => `${fleet.root}/{{ grains.id }}/${name}`;
  const toEach = (fun: string, name: string, ...args: string[]): Promise<Answers> =>
    ask('*', fun, args[0] ?? '', destination(name), 'template=jinja', ...args.slice(1));
  everyRelease(
    'cp.get_file',
    () => toEach('cp.get_file', 'big', 'salt://big'),
    (_answer, peer) => expect(sha256(received(peer, 'big'))).toBe(sha256(big)),
  );
  everyRelease(
    'cp.get_file gzip',
    () => toEach('cp.get_file', 'zipped', 'salt://big', 'gzip=5'),
    (_answer, peer) => expect(sha256(received(peer, 'zipped'))).toBe(sha256(big)),
  );
  everyRelease(
    'cp.get_dir',
    () => toEach('cp.get_dir', 'dir', 'salt://templates'),
    (_answer, peer) => expect(received(peer, 'dir/templates/greeting').toString()).toContain('hello'),
  );
  everyRelease(
    'cp.get_template',
    () => apart((id) => ['cp.get_template', 'salt://templates/greeting', fleet.path(id, 'made')]),
    (_answer, peer) => expect(received(peer, 'made').toString().trim()).toBe(`hello world from ${peer.id}`),
  );
  everyRelease(
    'cp.push',
    () => ask('*', 'cp.push', fleet.path('srv/salt/body')),
    (answer, { id, version }) => {
      // 2015.5 names the file in one text, which no Salt master has taken since 2016.
      if (version === '2015.5.11') return expect(answer).toBe(false);
      expect(answer).toBe(true);
      const pushed = fleet.path('cache/master/minions', id, 'files', fleet.path('srv/salt/body'));
      expect(readFileSync(pushed, 'utf8')).toBe('the body\n');
    },
  );
});

describe('modules and states', () => {
  everyRelease('saltutil.sync_modules', () => ask('*', 'saltutil.sync_modules'), all('modules.own'));
  everyRelease(
    'the synced module',
    () => ask('*', 'own.hi'),
    (answer, { id }) => expect(answer).toBe(`hi from ${id}`),
  );
  everyRelease(
    'master_tops',
    () => ask('*', 'state.show_top'),
    (answer) => expect(answer).toEqual({ base: expect.arrayContaining(['rendered', 'assigned']) }),
  );
  everyRelease(
    'state.apply',
    () => ask('*', 'state.apply'),
    (answer, { id }) => {
      expect(states(answer)).toMatchObject([{ result: true }, { result: true }]);
      expect(readFileSync(fleet.path(id, 'rendered'), 'utf8').trim()).toBe(`hello world from ${id}`);
      expect(readFileSync(fleet.path(id, 'assigned'), 'utf8')).toBe('the body\n');
    },
  );
});

describe('mine', () => {
  everyRelease('mine.send', () => ask('*', 'mine.send', 'greeting', 'mine_function=test.echo', 'hello'), is(true));
  const greetings = Object.fromEntries(ids.map((id) => [id, 'hello']));
  everyRelease('mine.get', () => ask('*', 'mine.get', '*', 'greeting'), is(greetings));
  everyRelease('mine.delete', () => ask('*', 'mine.delete', 'greeting'), is(true));
  everyRelease('mine.get of nothing', () => ask('*', 'mine.get', '*', 'greeting'), is({}));
});

describe('events', () => {
  everyRelease(
    'event.send',
    () => ask('*', 'event.send', 'tests/old', '{"from": "a minion"}'),
    async (answer, { id }) => {
      expect(answer).toBe(true);
      const event = await events.next('tests/old', (data) => data['id'] === id);
      expect(event).toMatchObject({ data: { from: 'a minion' }, tag: 'tests/old' });
      expect(event).not.toHaveProperty('tok');
    },
  );
  everyRelease(
    'a reserved tag',
    () => ask('*', 'event.send', 'salt/key', '{"act": "accept"}'),
    (_answer, { id }) =>
      expect(events.seen('salt/key').filter((data) => data['id'] === id && 'cmd' in data)).toEqual([]),
  );
});

describe('peer', () => {
  const publish = (fun: string): Promise<Answers> => ask('*', 'publish.publish', asked, fun, 'timeout=60');
  everyRelease('publish.publish', () => publish('test.ping'), is({ [asked]: true }));
  everyRelease('a function that peer does not name', () => publish('test.version'), is({}));
  everyRelease(
    'publish.runner',
    () => ask('*', 'publish.runner', 'test.arg', '[1, 2]'),
    (answer) => expect(answer).toMatchObject({ args: expect.anything() }),
  );
});

describe('salt-call', () => {
  const call = async ({ id, implementation }: OldPeer): Promise<[string, unknown]> => {
    const args = ['-c', fleet.path(id, 'etc'), '--out=json', 'pillar.get', 'who'];
    const { stdout } = await runProgram(join(implementation?.bin ?? '', 'salt-call'), args, { timeoutMs: 120_000 });
    return [id, JSON.parse(stdout.slice(stdout.indexOf('{'))) as unknown];
  };
  everyRelease(
    'pillar.get',
    async () => Object.fromEntries(await Promise.all(here.map(call))),
    (answer) => expect(answer).toEqual({ local: 'world' }),
  );
});

/**
 * Everything again that needs the shared key, in both directions. The event is waited for: these minions forward it after
 * the job, and one that is on its way while its master stops keeps them busy for minutes.
 */
const goesOn = (tag: string, after: () => Promise<unknown>): void =>
  together(
    [
      ['test.ping', [], is(true)],
      ['cp.get_file_str', ['salt://body'], is('the body\n')],
      ['pillar.items', [], (answer) => expect(answer).toMatchObject({ who: 'world' })],
      [
        'event.fire_master',
        ['{}', tag],
        async (answer, { id }) => {
          expect(answer).toBe(true);
          await events.next(tag, (data) => data['id'] === id);
        },
      ],
    ],
    after,
  );

describe('a minion that is not what it says', () => {
  let intruders: OldMinion[];
  beforeAll(async () => {
    const wire = { requests: fleet.ports.requests };
    intruders = [
      await OldMinion.start({ id: 'intruder0', generation: 0, version: '2015.5.11', ...wire }),
      await OldMinion.start({ id: 'intruder2', generation: 2, version: '3005', ...wire }),
    ];
  });
  afterAll(() => {
    for (const intruder of intruders ?? []) intruder.stop();
  });
  const refusedFrom = (peer: OldPeer, load: Record<string, string>): Promise<unknown[]> =>
    Promise.all(intruders.map((intruder) => intruder.ask({ ...load, id: peer.id })));

  describe('its wrong token is refused', () => {
    eachPeer(peers, async (peer) => {
      expect(await refusedFrom(peer, { cmd: '_mine_flush' })).toEqual(['bad load', 'bad load']);
      expect(await refusedFrom(peer, { cmd: '_return', jid: '20260101000000000000', return: 'x' })).toEqual([
        'bad load',
        'bad load',
      ]);
    });
  });
});

describe('rotation of the AES key', () => {
  // Deleting any key does it.
  goesOn('tests/rotated', () => fleet.run('salt-key', ['-y', '-d', 'intruder*']));
});

describe('restart of the master', () => {
  goesOn('tests/master', async () => {
    await fleet.master.stop();
    await fleet.startMaster();
    events.stop();
    events = await EventListener.start(fleet);
    await fleet.answering(...ids);
  });
});

describe('restart of the minions', () => {
  goesOn('tests/minions', async () => {
    await Promise.all(ids.map((id) => fleet.minion(id).stop('SIGKILL')));
    for (const peer of peers) start(peer);
    await fleet.answering(...ids);
  });
});
