// The returners carbon and syslog against real servers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { nextJid, openForTest, someReturn } from '../support/returner-suite.ts';
import { type CarbonServer, startCarbon } from '../support/servers/carbon.ts';
import { type SyslogServer, startRsyslog } from '../support/servers/rsyslog.ts';

describe('returner carbon', () => {
  let carbon: CarbonServer | undefined;
  beforeAll(async () => {
    carbon = await startCarbon();
  });
  afterAll(async () => carbon?.stop());
  const arrives = (path: string, value: number) =>
    eventually(`${path} in carbon`, () => carbon!.value(path) === value, {
      describe: () => `seen: ${carbon!.value(path)}`,
    });

  it('sends numbers as lines', async (context) => {
    if (!carbon) return context.skip();
    const session = await openForTest('carbon', {
      carbon: { host: '127.0.0.1', port: carbon.port, skip_on_error: true },
    });
    const load = { '1-min': 0.25, '5-min': '1.5', note: 'no number', deep: { up: true } };
    await session.save(someReturn(nextJid(), 'web1.example', { fun: 'status.loadavg', return: load }));
    await arrives('status.loadavg.web1_example.1-min', 0.25);
    await arrives('status.loadavg.web1_example.5-min', 1.5);
    await arrives('status.loadavg.web1_example.deep.up', 1);
    await session.saveEvents!([{ tag: 'load', data: { data: { five: 5 } } }]);
    await arrives('load.five', 5);
  });

  it('sends numbers as a pickle, named as configured', async (context) => {
    if (!carbon) return context.skip();
    const session = await openForTest('carbon', {
      'carbon.host': '127.0.0.1',
      'carbon.port': carbon.picklePort,
      'carbon.mode': 'pickle',
      'carbon.metric_base_pattern': 'carbon.[minion_id].[module].[function]',
    });
    await session.save(
      someReturn(nextJid(), 'web2', { fun: 'disk.free', return: { used: -1234567.75, big: 2 ** 40 } }),
    );
    await arrives('carbon.web2.disk.free.used', -1234567.75);
    await arrives('carbon.web2.disk.free.big', 2 ** 40);
    const text = someReturn(nextJid(), 'web2', { return: 'text' });
    await expect(session.save(text)).rejects.toThrow('trying to convert metric: carbon.web2.test.ping, with val: text');
  });

  it('reports an unreachable server', async () => {
    const session = await openForTest('carbon', { 'carbon.host': '127.0.0.1', 'carbon.port': 1 });
    await expect(session.save(someReturn(nextJid(), 'web1'))).rejects.toThrow(
      'carbon at 127.0.0.1:1 cannot be reached',
    );
  });
});

describe('returner syslog', () => {
  let syslog: SyslogServer | undefined;
  beforeAll(async () => {
    syslog = await startRsyslog();
  });
  afterAll(async () => syslog?.stop());
  const lineWith = async (mark: string): Promise<string> => {
    const find = () => syslog!.lines().find((line) => line.includes(mark));
    await eventually(`${mark} in the log`, () => find() !== undefined, { describe: () => syslog!.lines().join('\n') });
    return find()!;
  };

  it('writes to the log of the system', async (context) => {
    if (!syslog) return context.skip();
    const jid = nextJid();
    const session = await openForTest('syslog', {
      'syslog.socket': syslog.socket,
      'syslog.level': 'LOG_ERR',
      'syslog.facility': 'LOG_DAEMON',
      'syslog.tag': 'mysalt',
      'syslog.options': ['LOG_PID'],
    });
    await session.save(someReturn(jid, 'web1', { return: `${'x'.repeat(20_000)} "ü"` }));
    const line = await lineWith(jid);
    expect(line).toMatch(new RegExp(`^daemon\\.err \\S+ mysalt\\[${process.pid}\\]: \\{"cmd": "_return"`));
    expect(line).toContain(`${'x'.repeat(20_000)} \\"ü\\"`);
  });

  for (const protocol of ['udp', 'tcp']) {
    it(`writes to another machine over ${protocol}`, async (context) => {
      if (!syslog) return context.skip();
      const jid = nextJid();
      const opts = { 'syslog.host': '127.0.0.1', 'syslog.port': syslog.port, 'syslog.protocol': protocol };
      const session = await openForTest('syslog', opts);
      await session.save(someReturn(jid, 'web1'));
      expect(await lineWith(jid)).toMatch(/^user\.info suite-master salt-minion: \{"cmd": "_return", "id": "web1"/);
      if (protocol === 'udp') {
        const large = session.save(someReturn(jid, 'web1', { return: 'x'.repeat(100_000) }));
        await expect(large).rejects.toThrow('use syslog.protocol: tcp');
      }
    });
  }

  it('refuses invalid levels, options and tags', async () => {
    await expect(openForTest('syslog', { 'syslog.level': 'LOG_LOUD' })).rejects.toThrow('no level LOG_LOUD');
    await expect(openForTest('syslog', { 'syslog.options': ['LOG_X'] })).rejects.toThrow('no option LOG_X');
    await expect(openForTest('syslog', { 'syslog.tag': 'x'.repeat(33) })).rejects.toThrow('32 characters');
  });
});
