// `salt-fleet` against a real Halite master: exact counts, every kind of target, faults, and limits.
import { renameSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';
import { FleetRun, fleetCommand, fleetToEnd } from '../support/salt-fleet.ts';

/** For tests with a dozen commands, or thousands of minions, on a machine that does other work too. */
const longMs = 300_000;

const runs: FleetRun[] = [];
async function ready(port: number, ...args: string[]): Promise<FleetRun> {
  const run = new FleetRun(port, args);
  runs.push(run);
  await run.next('ready');
  return run;
}
afterEach(async () => {
  for (const run of runs.splice(0)) await run.kill();
});

describe('a fleet at a master', () => {
  let master: Deployment;
  beforeAll(async () => {
    master = await Deployment.create({ masterConfig: 'minimum_auth_version: 0\ntimeout: 20' });
    // On a busy machine 2,000 answers to find_job take longer than the second that tests usually give them.
    writeFileSync(master.path('etc/master.d/patience.conf'), 'gather_job_timeout: 60\n');
    writeFileSync(master.path('srv/pillar/top.sls'), "base:\n  '*': [data]\n");
    writeFileSync(master.path('srv/pillar/data.sls'), "number: {{ grains['number'] }}\n");
    await master.startMaster();
  });
  afterAll(() => master?.destroy());

  it(
    'every kind of target reaches the minions that it means, and each answer is acknowledged once',
    async () => {
      const run = await ready(master.ports.requests, '--minions', '40', '--processes', '2', '--keys', '3', '--boot');
      const kinds: [string[], number][] = [
        [['*'], 40],
        [['sim-000[1-5]'], 5],
        [['-E', 'sim-00(1|2)\\d'], 20],
        [['-L', 'sim-0001,sim-0040,sim-9999'], 2],
        [['-G', 'role:web'], 10],
        [['-P', 'os:(RedHat|SLES)'], 16],
        [['-S', '10.1.0.0/28'], 15],
        [['-I', 'number:7'], 1],
        [['-C', 'G@role:web and not sim-0004'], 9],
      ];
      for (const [target, count] of kinds) {
        const from = run.events.length;
        const answers = await master.json(...target, 'test.ping');
        expect([target, Object.values(answers).filter((value) => value === true).length]).toEqual([target, count]);
        expect(await run.next('answered', from)).toMatchObject({ fun: 'test.ping', minions: count });
      }
      const { report, code } = await run.quit();
      const all = kinds.reduce((sum, [, count]) => sum + count, 0);
      expect(report.returns).toMatchObject({
        expected: all,
        acknowledged: all,
        missing: 0,
        doubled: 0,
        lost: 0,
        refused: 0,
      });
      expect(report.boot.minions).toBe(40);
      expect(report.master.halite).toBe(true);
      expect(code).toBe(0);
    },
    longMs,
  );

  it(
    'results as they were asked for: size, failures, copies, losses, delays',
    async () => {
      const { requests } = master.ports;
      const sized = await ready(requests, '--minions', '5', '--prefix', 'big-', '--result-size', '70000');
      const long = await master.json('big-*', 'cmd.run', 'anything');
      expect(Object.values(long).map((text) => String(text).length)).toEqual(Array(5).fill(70_000));
      expect(await master.json('big-*', 'no.such')).toMatchObject({ 'big-0001': "'no.such' is not available." });
      await sized.quit();

      const twice = await ready(requests, '--minions', '20', '--prefix', 'twice-', '--duplicate', '1', '--fail', '1');
      const failed = await master.json('twice-*', 'test.ping');
      expect(Object.keys(failed)).toHaveLength(20);
      expect(failed['twice-0001']).toContain('ERROR');
      await eventually('the copies to be acknowledged', async () => (await twice.stats()).returns.doubled === 20);
      expect((await twice.quit()).report.returns).toMatchObject({
        acknowledged: 20,
        missing: 0,
        doubled: 20,
        simulatedFailures: 20,
      });

      const lossy = await ready(requests, '--minions', '10', '--prefix', 'lossy-', '--drop', '1');
      const { stdout: asked } = await master.salt('lossy-*', 'test.ping', '--async');
      expect(asked).toContain('job ID');
      await eventually('all to have dropped it', async () => (await lossy.stats()).returns.dropped === 10);
      expect((await lossy.quit()).report.returns).toMatchObject({ acknowledged: 0, missing: 0, dropped: 10 });

      const late = await ready(requests, '--minions', '10', '--prefix', 'late-', '--delay', '0.6', '--jitter', '0.5');
      const answers = await master.json('late-*', 'test.ping', '-t', '1');
      expect(Object.values(answers).filter((value) => value === true)).toHaveLength(10);
      const { report } = await late.quit();
      expect(report.returns.answerMs.p50).toBeGreaterThan(290);
    },
    longMs,
  );

  it('answers are held back and released together, and results without a job are stored', async () => {
    const run = await ready(master.ports.requests, '--minions', '30', '--prefix', 'held-', '--hold', '--fill', '50');
    expect((await run.stats()).filled.results).toBe(50);
    const { stdout } = await master.salt('held-*', 'test.ping', '--async');
    const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
    await eventually('all to hold their answer', async () => (await run.stats()).returns.held === 30);
    expect((await run.stats()).returns.acknowledged).toBe(0);
    run.order('release');
    expect(await run.next('answered', 0, 30_000, (event) => event.jid === jid)).toMatchObject({ minions: 30 });
    await run.quit();
    const jobs = JSON.parse((await master.run('salt-run', ['jobs.list_jobs', '--out=json'])).stdout) as Record<
      string,
      { Target?: unknown }
    >;
    expect(Object.values(jobs).filter(({ Target }) => String(Target).startsWith('held-0')).length).toBe(50);
  });

  it.each(['0', '2', '3'])('protocol %s of a Salt minion', async (protocol) => {
    const prefix = `p${protocol}-`;
    const run = await ready(
      master.ports.requests,
      '--minions',
      '10',
      '--prefix',
      prefix,
      '--protocol',
      protocol,
      '--as',
      'salt',
      '--token',
    );
    const answers = await master.json(`${prefix}*`, 'test.ping');
    expect(Object.values(answers).filter((value) => value === true)).toHaveLength(10);
    await run.next('answered');
    expect((await run.quit()).report.returns).toMatchObject({ acknowledged: 10, missing: 0, refused: 0 });
  });

  it('SIGINT ends a run with its report; a storm and minions that leave are survived', async () => {
    const run = await ready(
      master.ports.requests,
      ...[
        '--minions',
        '60',
        '--prefix',
        'storm-',
        '--share',
        '3',
        '--reconnect',
        '0.1',
        '--reauth-delay',
        '0.2',
        '--churn',
        '600',
        '--churn-away',
        '0.2',
      ],
    );
    run.order('storm');
    await eventually('all to be connected again after the storm', async () => {
      const { connections, connected } = await run.stats();
      return connections.reconnects >= 60 && connected >= 50;
    });
    await eventually('minions to have left and come back', async () => (await run.stats()).renewals > 60);
    const { report, code } = await run.quit('SIGINT');
    expect(report.minions).toBe(60);
    expect(report.returns.missing).toBe(0);
    expect(code).toBe(0);
  });

  it(
    '2,000 minions beside a master, in bounded memory',
    async () => {
      const args = ['--minions', '2000', '--prefix', 'many-', '--light', '--sign-in-time', '280'];
      const run = new FleetRun(master.ports.requests, args);
      runs.push(run);
      await run.next('ready', 0, 280_000);
      const answers = await master.json('many-*', 'test.ping', '-t', '60');
      expect(Object.values(answers).filter((value) => value === true)).toHaveLength(2000);
      const { report } = await run.quit();
      expect(report.signIns).toMatchObject({ accepted: 2000, failed: 0 });
      const job = report.jobs.find(({ fun }) => fun === 'test.ping');
      expect(job).toMatchObject({ expected: 2000, acknowledged: 2000, missing: 0, doubled: 0 });
      expect(report.returns).toMatchObject({ missing: 0, doubled: 0, lost: 0 });
      expect(report.generator.rssMb).toBeLessThan(300);
    },
    longMs,
  );
});

it('over TCP, and while the keys wait for acceptance', async () => {
  const master = await Deployment.create({ transport: 'tcp', autoAccept: false });
  try {
    await master.startMaster();
    const { requests } = master.ports;
    const options = ['--minions', '8', '--transport', 'tcp', '--acceptance-wait', '0.2'];
    const waits = 'sign-in: the key waits for acceptance on the master';
    const { report: refused, code } = await fleetToEnd(requests, [
      ...options,
      '--sign-in-time',
      '1',
      '--keys-dir',
      master.path('keys'),
    ]);
    expect([code, refused.signedIn, Object.keys(refused.reasons)]).toEqual([1, 0, [waits]]);
    // The same keys as before, or the master would not know them.
    const run = new FleetRun(requests, [...options, '--keys-dir', master.path('keys')]);
    runs.push(run);
    await eventually('the minions to wait', async () => (await run.stats()).reasons[waits] !== undefined);
    await master.run('salt-key', ['-A', '-y']);
    await run.next('ready');
    expect(Object.values(await master.json('sim-000[1-5]', 'test.ping'))).toEqual(Array(5).fill(true));
    await run.next('answered');
    const { report } = await run.quit();
    expect(report.returns).toMatchObject({ expected: 5, acknowledged: 5, missing: 0, doubled: 0 });
  } finally {
    await master.destroy();
  }
});

describe('a master that breaks', () => {
  it('is killed between two jobs: minions come back, and its next job is answered by all', async () => {
    const master = await Deployment.create({ masterConfig: 'timeout: 20' });
    try {
      await master.startMaster();
      const run = await ready(
        master.ports.requests,
        '--minions',
        '50',
        '--reconnect',
        '0.2',
        '--reauth-delay',
        '0.2',
        '--hold',
      );
      await master.salt('*', 'test.ping', '--async');
      await eventually('all to hold their answer', async () => (await run.stats()).returns.held === 50);
      await master.master.stop('SIGKILL');
      // Their answers wait in line while there is no master.
      run.order('release');
      await master.startMaster();
      await eventually('all to be connected again', async () => {
        const { connected, returns } = await run.stats();
        return connected === 50 && returns.missing === 0;
      });
      const answers = await master.json('*', 'test.ping');
      expect(Object.values(answers).filter((value) => value === true)).toHaveLength(50);
      const { report } = await run.quit();
      expect(report.returns).toMatchObject({ expected: 100, acknowledged: 100, missing: 0 });
      expect(report.connections.reconnects).toBeGreaterThanOrEqual(50);
    } finally {
      await master.destroy();
    }
  });

  it('comes back with another key: nothing of it is believed', async () => {
    const master = await Deployment.create();
    try {
      await master.startMaster();
      const run = await ready(
        master.ports.requests,
        '--minions',
        '5',
        '--reconnect',
        '0.2',
        '--reauth-delay',
        '0.1',
        '--sign-in-time',
        '5',
      );
      await master.master.stop('SIGKILL');
      renameSync(master.path('etc/pki/master'), master.path('etc/pki/old'));
      await master.startMaster();
      await eventually('the other key to be noticed', async () => {
        const { reasons } = await run.stats();
        return (reasons['sign-in: the master presents another key than before'] ?? 0) >= 5;
      });
      const { report, code } = await run.quit();
      expect(report.renewals).toBe(0);
      expect(code).toBe(1);
    } finally {
      await master.destroy();
    }
  });
});

/** A peer that takes connections, and does with them what it likes. */
async function strange(onConnection: (socket: Socket) => void): Promise<{ port: number; server: Server }> {
  const [port] = await freePorts(1);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return { port: port!, server };
}

describe('something that is no master ends a run with the reason', () => {
  const short = ['--minions', '3', '--sign-in-time', '2', '--timeout', '1', '--tries', '1', '--auth-only'];
  // A greeting and READY of a ROUTER, as a real one sends them.
  const hello = Buffer.concat([
    Buffer.from('ff00000000000000017f0301', 'hex'),
    Buffer.from('NULL'.padEnd(20, '\0')),
    Buffer.alloc(32),
    Buffer.from('041c055245414459', 'hex'),
    Buffer.from('\x0bSocket-Type\0\0\0\x06ROUTER', 'latin1'),
  ]);
  const cases: [string, (socket: Socket) => void, RegExp][] = [
    ['garbage', (socket) => void socket.write(Buffer.alloc(500, 0x55)), /ZMTP|closed/],
    ['silence after the handshake', (socket) => void socket.write(hello), /no answer in time/],
    ['the end of every connection', (socket) => void socket.destroy(), /closed|ECONNRESET/],
    [
      'a frame that is announced with 2^60 bytes',
      (socket) => void socket.write(Buffer.concat([hello, Buffer.from('021000000000000000', 'hex')])),
      /larger than/,
    ],
    [
      'a reply that is no msgpack',
      (socket) => {
        socket.write(hello);
        // After the greeting, its first long message is a request.
        socket.on('data', (data) => data.length > 300 && socket.write(Buffer.from('01000003c1c1c1', 'hex')));
      },
      /msgpack|malformed|map/i,
    ],
  ];
  it.each(cases)('%s', async (_, onConnection, reason) => {
    const { port, server } = await strange(onConnection);
    try {
      const { report, code } = await fleetToEnd(port, short);
      expect(code).toBe(1);
      expect(report.signedIn).toBe(0);
      expect(report.signIns.failed).toBe(3);
      expect(Object.keys(report.reasons).join('\n')).toMatch(reason);
    } finally {
      server.close();
    }
  });

  it('nobody listens', async () => {
    const [port] = await freePorts(1);
    const { report, code } = await fleetToEnd(port!, short);
    expect(code).toBe(1);
    expect(Object.keys(report.reasons).join('\n')).toContain('the connection was refused');
  });

  it('a master on another machine needs the permission of the user', async () => {
    const { stderr, code } = await fleetCommand(['192.0.2.1', '--minions', '1']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('is not this machine');
    expect(stderr).toContain('--i-own-this-master');
  });

  it('a report that cannot be written is an error', async () => {
    const [port] = await freePorts(1);
    const { code, stderr } = await fleetCommand([`127.0.0.1:${port}`, ...short, '--report', '/dev/full']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('The report cannot be written');
  });

  it('wrong options are usage errors', async () => {
    for (const args of [['--drop', '2'], ['--minions', '0'], ['a', 'b'], ['--prefix', '../x'], ['host:99999']]) {
      const { code, stderr } = await fleetCommand(args);
      expect([args, code]).toEqual([args, 64]);
      expect(stderr).toContain('salt-fleet: error:');
    }
  });
});
