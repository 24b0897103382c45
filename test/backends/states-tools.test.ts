// States that change something through a tool or a server, for real: under test, applied, applied again.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict, type PillarContext, type PlainDict, type StateResult, type Value } from 'halite/sdk';
import { applyState, runProgram, testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import augeas from '../../src/ext/modules/augeas_cfg.ts';
import cmd from '../../src/ext/modules/cmd/index.ts';
import config from '../../src/ext/modules/config.ts';
import hg from '../../src/ext/modules/hg.ts';
import influxdb from '../../src/ext/modules/influxdbmod.ts';
import ldap3 from '../../src/ext/modules/ldap3.ts';
import smtp from '../../src/ext/modules/smtp.ts';
import libvirt from '../../src/ext/pillars/libvirt.ts';
import augeasState from '../../src/ext/states/augeas/index.ts';
import hgState from '../../src/ext/states/hg/index.ts';
import continuousQueries from '../../src/ext/states/influxdb_continuous_query/index.ts';
import databases from '../../src/ext/states/influxdb_database/index.ts';
import policies from '../../src/ext/states/influxdb_retention_policy/index.ts';
import users from '../../src/ext/states/influxdb_user/index.ts';
import virtState from '../../src/ext/states/virt/index.ts';
import { startInfluxDb } from '../support/servers/influxdb.ts';
import { preparedProgram, type RunningServer } from '../support/servers/server.ts';
import { directoryAdmin, directoryRoot, startDirectory } from '../support/servers/slapd.ts';
import { type SmtpServer, startSmtp } from '../support/servers/smtp.ts';

const modules = [cmd, config, augeas, hg, influxdb, ldap3, smtp];
const states = [augeasState, hgState, databases, users, policies, continuousQueries];
const folder = mkdtempSync(join(tmpdir(), 'halite-tools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Under test, applied, applied again. */
async function thrice(
  fun: string,
  args: Record<string, Value>,
  opts: Record<string, Value> = {},
): Promise<StateResult[]> {
  const results: StateResult[] = [];
  for (const test of [true, false, false])
    results.push(await applyState({ modules, states, opts: { cachedir: folder, ...opts }, test }, fun, args));
  return results;
}
const verdicts = (results: readonly StateResult[]): Value[] => results.map(({ result }) => result);
const changed = (results: readonly StateResult[]): boolean[] =>
  results.map(({ changes }) => Object.keys(changes).length > 0);

describe.runIf(preparedProgram('augtool', 'augeas-tools'))('augeas', () => {
  const file = join(folder, 'limits.conf');
  const context = `/files${file}`;
  const lens = 'Simplevars.lns';

  it('changes a file once, and announces it before', async () => {
    writeFileSync(file, '# kept\na = 1\nb = 2\n');
    const changes = ['set a 5', 'rm b', 'set c "two words"'];
    const results = await thrice('augeas.change', { name: 'x', context, lens, changes });
    expect(verdicts(results)).toEqual([null, true, true]);
    expect(results.map(({ comment }) => comment)).toEqual([
      `Executing commands in file "${context}":\nset a 5\nrm b\nset c "two words"`,
      'Changes have been saved',
      'No changes made',
    ]);
    expect(results[1]?.changes).toEqual({ diff: expect.stringContaining('-a = 1\n-b = 2\n+a = 5\n+c = two words\n') });
    expect(readFileSync(file, 'utf8')).toBe('# kept\na = 5\nc = two words\n');
  });

  it('reports the problem', async () => {
    const results = await thrice('augeas.change', { name: 'x', context, lens: 'Nonsense', changes: ['set a 1'] });
    expect(verdicts(results)).toEqual([false, false, false]);
    expect(results[1]?.comment).toContain('Did you mean "Nonsense.lns"?');
  });

  it('reads trees', async () => {
    const ctx = testContext({ modules });
    const node = '/files/etc/passwd/root';
    expect(await ctx.call('augeas.get', node, 'uid')).toEqual({ [`${node}/uid`]: '0' });
    expect(await ctx.call('augeas.ls', node)).toMatchObject({ uid: '0', gid: '0', home: '/root' });
    expect(await ctx.call('augeas.tree', node)).toMatchObject({ [node]: null, [`${node}/gid`]: '0' });
  });
});

describe.runIf(preparedProgram('hg', 'mercurial'))('hg', () => {
  const [source, target] = [join(folder, 'source'), join(folder, 'clone')];
  const run = async (script: string): Promise<void> => {
    const done = await runProgram('/bin/sh', ['-ec', script], { env: { HGUSER: 'test', HGPLAIN: '1' } });
    if (done.retcode !== 0) throw new Error(done.stderr);
  };

  it('clones, and pulls new commits', async () => {
    await run(`mkdir ${source}; cd ${source}; hg init; echo 1 >a; hg add a; hg commit -m one`);
    const cloned = await thrice('hg.latest', { name: source, target });
    expect(verdicts(cloned)).toEqual([null, true, true]);
    expect(changed(cloned)).toEqual([false, true, false]);
    await run(`cd ${source}; echo 2 >a; hg commit -m two`);
    const pulled = await applyState({ modules, states, opts: { cachedir: folder } }, 'hg.latest', {
      name: source,
      target,
    });
    expect(pulled.comment).toBe(`Repository ${target} updated.`);
    expect(readFileSync(join(target, 'a'), 'utf8')).toBe('2\n');
  });
});

describe.runIf(preparedProgram('certtool', 'gnutls-bin'))('virt.keys', () => {
  it('has the master create keys once, and installs them', async () => {
    const pki = join(folder, 'pki');
    const secrets: string[] = [];
    const ctx = {
      minionId: 'hyper1',
      grains: newDict([['fqdn', 'hyper1.example.com']]),
      pillar: newDict([['ext_pillar_virt.expiration_days', 30]]),
      opts: { pki_dir: pki },
      exec: runProgram,
      keepSecret: (text: string) => secrets.push(text),
    } as unknown as PillarContext;
    const pillar = (await libvirt.compile(newDict() as never, ctx)) as PlainDict;
    expect(Object.keys(pillar).sort()).toEqual(
      ['cacert', 'clientcert', 'clientkey', 'servercert', 'serverkey'].map((name) => `libvirt.${name}.pem`),
    );
    expect(await libvirt.compile(newDict() as never, ctx)).toEqual(pillar);
    expect(secrets).toContain(pillar['libvirt.serverkey.pem']);
    const name = [
      'x509',
      '-in',
      join(pki, 'libvirt/hyper1/servercert.pem'),
      '-noout',
      '-subject',
      '-checkend',
      '2505600',
    ];
    expect((await runProgram('openssl', name)).stdout).toContain('CN = hyper1.example.com');
    const results: StateResult[] = [];
    for (const test of [true, false, false]) {
      const calls = { 'pillar.ext': () => pillar };
      const basepath = join(folder, 'etc-pki');
      results.push(
        await applyState({ modules, states: [virtState], calls, test }, 'virt.keys', { name: 'x', basepath }),
      );
    }
    expect(verdicts(results)).toEqual([null, true, true]);
    expect(changed(results)).toEqual([false, true, false]);
    expect(statSync(join(folder, 'etc-pki/libvirt/private/serverkey.pem')).mode & 0o777).toBe(0o600);
  });
});

describe('influxdb', async () => {
  let server: RunningServer | undefined;
  beforeAll(async () => {
    server = await startInfluxDb();
  });
  afterAll(() => server?.stop());
  const where = (): Record<string, Value> => ({ influxdb_host: '127.0.0.1', influxdb_port: server?.port ?? 0 });
  const run = (fun: string, args: Record<string, Value>): Promise<StateResult[]> =>
    thrice(fun, { ...args, ...where() });

  it.runIf(preparedProgram('influxd', 'influxdb'))(
    'makes databases, users, policies and queries, and removes them',
    async () => {
      const steps: [string, Record<string, Value>][] = [
        ['influxdb_database.present', { name: 'tele "graf"' }],
        [
          'influxdb_user.present',
          { name: "o'neil", passwd: "it's", admin: true, grants: newDict([['tele "graf"', 'READ']]) },
        ],
        ['influxdb_user.present', { name: "o'neil", passwd: "it's", grants: newDict([['tele "graf"', 'all']]) }],
        ['influxdb_retention_policy.present', { name: 'week', database: 'tele "graf"', default: true }],
        ['influxdb_retention_policy.present', { name: 'week', database: 'tele "graf"', duration: '2w', default: true }],
        [
          'influxdb_continuous_query.present',
          { name: 'means', database: 'tele "graf"', query: 'SELECT mean(v) INTO m FROM cpu GROUP BY time(1h)' },
        ],
        ['influxdb_continuous_query.absent', { name: 'means', database: 'tele "graf"' }],
        ['influxdb_retention_policy.absent', { name: 'week', database: 'tele "graf"' }],
        ['influxdb_user.absent', { name: "o'neil" }],
        ['influxdb_database.absent', { name: 'tele "graf"' }],
      ];
      for (const [fun, args] of steps) {
        const results = await run(fun, args);
        expect([fun, ...verdicts(results)]).toEqual([fun, null, true, true]);
        expect([fun, ...changed(results).slice(1)]).toEqual([fun, true, false]);
      }
    },
  );

  it.runIf(preparedProgram('influxd', 'influxdb'))('queries', async () => {
    const ctx = testContext({ modules, opts: { 'influxdb.host': '127.0.0.1', 'influxdb.port': server?.port ?? 0 } });
    await ctx.call('influxdb.create_db', 'd');
    expect(await ctx.call('influxdb.db_exists', 'd')).toBe(true);
    expect(await ctx.call('influxdb.query', 'd', 'SHOW RETENTION POLICIES')).toEqual([
      { results: [expect.objectContaining({ name: 'autogen', replicaN: 1, default: true })] },
    ]);
    await expect(ctx.call('influxdb.query', 'd', 'NONSENSE')).rejects.toThrow(/error parsing query/);
  });
});

describe('smtp', () => {
  let server: SmtpServer | undefined;
  beforeAll(async () => {
    server = await startSmtp();
  });
  afterAll(() => server?.stop());

  it.runIf(preparedProgram('aiosmtpd', 'python3-aiosmtpd'))('sends a mail with a file', async () => {
    const ctx = testContext({ modules });
    const [file, at] = [join(folder, 'note.txt'), `127.0.0.1:${server?.port}`];
    writeFileSync(file, 'attached');
    const kwargs = { sender: 'a@example.com', server: at, use_ssl: 'False', attachments: [file] };
    expect(await ctx.callWith('smtp.send_msg', ['b@example.com, c@example.com', 'the text'], kwargs)).toBe(true);
    const [mail] = server?.mails() ?? [];
    for (const part of ['Subject: Message from Salt', 'b@example.com', 'c@example.com', 'the text', 'note.txt'])
      expect(mail).toContain(part);
  });

  it.runIf(preparedProgram('aiosmtpd', 'python3-aiosmtpd'))(
    'does not trust a server without a valid certificate',
    async () => {
      const ctx = testContext({ modules });
      const send = (at: SmtpServer, use_ssl: string, more: Record<string, Value> = {}) =>
        ctx.callWith('smtp.send_msg', ['b@example.com', 'secret'], {
          ...{ sender: 'a@example.com', server: `127.0.0.1:${at.port}`, use_ssl },
          ...more,
        });
      const [starts, encrypted] = await Promise.all([startSmtp({ tls: true }), startSmtp({ tls: 'from the start' })]);
      try {
        if (!starts || !encrypted || !server) throw new Error('no server');
        expect(await send(encrypted, 'True')).toBe(false);
        expect(await send(starts, 'starttls')).toBe(false);
        expect(await send(starts, 'False', { username: 'u', password: 'p' })).toBe(false);
        // A server, or an attacker in between, that offers no encryption.
        const before = server.mails().length;
        expect(await send(server, 'starttls')).toBe(false);
        expect(server.mails()).toHaveLength(before);
        expect([...starts.mails(), ...encrypted.mails()]).toEqual([]);
        expect(await send(encrypted, 'True', { verify_ssl: false })).toBe(true);
        expect(await send(starts, 'starttls', { verify_ssl: false })).toBe(true);
        expect(starts.mails().length + encrypted.mails().length).toBe(2);
      } finally {
        await Promise.all([starts?.stop(), encrypted?.stop()]);
      }
    },
  );

  it.runIf(preparedProgram('aiosmtpd', 'python3-aiosmtpd'))('adds no headers that are in its arguments', async () => {
    const ctx = testContext({ modules });
    const kwargs = { sender: 'a@example.com\r\nX-Evil: 1', server: `127.0.0.1:${server?.port}`, use_ssl: 'False' };
    const subject = 'hello\r\nX-Evil: 2\r\n\r\nbody';
    await ctx.callWith('smtp.send_msg', ['b@example.com\r\nX-Evil: 3', 'inject'], { ...kwargs, subject });
    for (const mail of server?.mails() ?? []) expect(mail).not.toMatch(/^X-Evil/m);
  });

  it('reports when the mail was not accepted', async () => {
    const kwargs = { sender: 'a@example.com', server: '127.0.0.1:1', use_ssl: 'False' };
    expect(await testContext({ modules }).callWith('smtp.send_msg', ['b@example.com', 'x'], kwargs)).toBe(false);
  });
});

describe('ldap3', () => {
  let server: RunningServer | undefined;
  beforeAll(async () => {
    server = await startDirectory();
  });
  afterAll(() => server?.stop());

  it.runIf(preparedProgram('slapd', 'slapd') && preparedProgram('ldapsearch', 'ldap-utils'))(
    'adds, finds, changes and removes entries',
    async () => {
      const ctx = testContext({ modules });
      const url = `ldap://127.0.0.1:${server?.port}`;
      const admin = newDict(Object.entries({ url, bind: newDict(Object.entries(directoryAdmin)) }));
      const call = (fun: string, ...args: Value[]): Promise<Value> => ctx.call(`ldap3.${fun}`, ...args);
      const dict = (fields: Record<string, Value>): Value => newDict(Object.entries(fields));
      const person = `uid=amy,${directoryRoot}`;
      expect(await call('search', admin, directoryRoot)).toEqual({});
      await call(
        'add',
        admin,
        directoryRoot,
        dict({ objectClass: ['organization', 'dcObject'], dc: 'example', o: 'Example' }),
      );
      const names = { uid: ['amy'], cn: ['Amy\nWong'], sn: ['Wóng'], mail: ['a@x', 'b@x'] };
      await call('add', admin, person, dict({ objectClass: ['inetOrgPerson'], ...names }));
      const anybody = dict({ url });
      expect(await call('search', anybody, directoryRoot, 'subtree', '(uid=amy)')).toEqual({
        [person]: { objectClass: ['inetOrgPerson'], ...names },
      });
      await call('modify', admin, person, [
        ['replace', 'mail', ['c@x']],
        ['add', 'description', ['new']],
      ]);
      await call('change', admin, person, dict({ mail: ['c@x'], sn: ['Wóng'] }), dict({ mail: ['d@x'], sn: ['Wóng'] }));
      const found = await call('search', anybody, person, 'base', '(objectClass=*)', ['mail', 'sn', 'description']);
      expect(found).toEqual({ [person]: { mail: ['d@x'], sn: ['Wóng'], description: ['new'] } });
      await call('delete', admin, person);
      expect(await call('search', anybody, person)).toEqual({});
      await expect(call('delete', admin, person)).rejects.toThrow(/No such object/);
      const stranger = dict({ url, bind: dict({ dn: directoryAdmin.dn, password: 'wrong' }) });
      await expect(call('search', stranger, directoryRoot)).rejects.toThrow(/Invalid credentials/);
      await expect(call('search', dict({ url, bind: dict({ method: 'x' }) }), '')).rejects.toThrow(/unsupported bind/);
    },
  );
});
