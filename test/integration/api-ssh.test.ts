// `client: ssh`: hosts without a minion through the API, with the rights of its users.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFleet, type SecondApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { type Sshd, startSshd } from '../support/servers/sshd.ts';

const sshd = preparedProgram('sshd', 'openssh-server');

describe.skipIf(!sshd)('hosts over SSH', () => {
  let host: Sshd;
  let api: ApiFleet;
  let shell: SecondApi;
  const tokens: Record<string, string> = {};
  const at = (path: string): string => api.fleet.path(path);

  beforeAll(async () => {
    host = await startSshd({ PATH: `${dirname(process.execPath)}:${process.env['PATH']}` });
    api = await ApiFleet.start([], (fleet) => {
      const entry = (id: string): string =>
        `${id}: {host: 127.0.0.1, port: ${host.port}, user: root, priv: ${host.key}, thin_dir: ${fleet.path('thin', id)}, ssh_options: ['UserKnownHostsFile=${host.known}', 'GlobalKnownHostsFile=/dev/null']}\n`;
      mkdirSync(fleet.path('rosters/team'), { recursive: true });
      writeFileSync(fleet.path('etc/roster'), `${entry('h1')}${entry('h2')}`);
      writeFileSync(fleet.path('rosters/team/own'), entry('h3'));
      writeFileSync(fleet.path('secret-roster'), entry('h4'));
      writeFileSync(
        fleet.path('etc/master.d/ssh.conf'),
        [
          'netapi_enable_clients: [local, local_async, runner, ssh]',
          `rosters: [${fleet.path('rosters')}]`,
          `ssh_log_file: ${fleet.path('log/ssh')}`,
          'ssh_timeout: 30',
          '',
        ].join('\n'),
      );
      // The last file that names an option wins, and this one is read after all others.
      writeFileSync(fleet.path('etc/master.d/zz.conf'), 'netapi_enable_clients: [local, local_async, runner, ssh]\n');
    });
    shell = await api.second(['disable_ssl: True'], ['netapi_allow_raw_shell: True', 'netapi_enable_clients: [ssh]']);
    for (const user of ['ann', 'fred', 'everyping', 'limited', 'clerk']) tokens[user] = await api.login(user);
  });
  afterAll(async () => {
    await shell?.stop();
    await api?.fleet.destroy();
    await host?.stop();
  });

  const ssh = (user: string, chunk: object) => api.run(tokens[user]!, { client: 'ssh', fun: 'test.ping', ...chunk });

  it('answer with value, exit code, arguments and job, which is in the history of its user', async () => {
    const { status, json, text } = await ssh('ann', { tgt: 'h*', fun: 'test.echo', arg: ['hello'] });
    expect(status, text).toBe(200);
    const [found] = json.return;
    expect(Object.keys(found).sort()).toEqual(['h1', 'h2']);
    expect(found.h1).toEqual({
      ...{ return: 'hello', retcode: 0, id: 'h1', fun: 'test.echo', fun_args: ['hello'] },
      ...{ jid: expect.stringMatching(/^\d{20}$/), _stamp: expect.any(String) },
    });
    const job = await api.ask('GET', `/jobs/${found.h1.jid}`, { token: tokens['ann']! });
    expect(job.json.info[0]).toMatchObject({ Function: 'test.echo', Target: 'h*', User: 'ann' });
    expect(job.json.return[0]).toEqual({ h1: 'hello', h2: 'hello' });
  });

  it('take arguments as the other clients do, and say what failed', async () => {
    const typed = await ssh('ann', { tgt: 'h1', fun: 'test.arg', arg: ['1', 'a=[1, 2]'], kwarg: { b: 'x' } });
    expect(typed.json.return[0].h1.return).toMatchObject({ args: [1], kwargs: { a: [1, 2], b: 'x' } });
    const failed = await ssh('ann', { tgt: ['h1'], fun: 'cmd.run', arg: ['exit 7'] });
    expect(failed.json.return[0].h1).toMatchObject({ return: '', retcode: 7 });
    expect((await ssh('ann', { tgt: 'nobody*' })).json).toEqual({ return: [{}] });
  });

  it('obey the rules for every host and the arguments as bound', async () => {
    const denied = 'Authorization error occurred.';
    expect((await ssh('everyping', { tgt: 'h1' })).json.return[0].h1.return).toBe(true);
    // A rule for m1 reaches no other name, and rules for runners and wheel functions no host.
    for (const [user, chunk] of [
      ['everyping', { tgt: 'h1', fun: 'cmd.run', arg: ['touch @ROOT@/pwned'.replace('@ROOT@', at(''))] }],
      ['limited', { tgt: 'h1' }],
      ['limited', { tgt: '*' }],
      ['fred', { tgt: 'h1' }],
      ['clerk', { tgt: 'h1' }],
      ['clerk', { tgt: 'h1', fun: 'saltutil.find_job', arg: ['20200101000000000000'] }],
      ['ann', { tgt: 'h1', fun: 'cmd.script', arg: ['salt://x'] }],
    ] as const) {
      const { status, json, text } = await ssh(user, chunk);
      expect([status, json.return], `${user} ${JSON.stringify(chunk)}: ${text}`).toEqual([401, denied]);
    }
    expect(existsSync(at('pwned'))).toBe(false);
    const nobody = await api.ask('POST', '/run', { json: { client: 'ssh', tgt: 'h1', fun: 'test.ping' } });
    expect([nobody.status, nobody.json.return]).toEqual([401, 'No authentication credentials given']);
    const wrong = await api.ask('POST', '/run', {
      json: { client: 'ssh', tgt: 'h1', fun: 'test.ping', username: 'ann', password: 'no', eauth: 'sharedsecret' },
    });
    expect(wrong.status).toBe(401);
  });

  it('come from rosters of the operator only', async () => {
    const own = await ssh('ann', { tgt: '*', roster_file: 'team/own' });
    expect(Object.keys(own.json.return[0]), own.text).toEqual(['h3']);
    for (const file of ['../secret-roster', at('secret-roster'), 'no-such', 'team', 'team/../../secret-roster']) {
      const { status, text } = await ssh('ann', { tgt: '*', roster_file: file });
      expect([status, text.includes('roster')], `${file}: ${text}`).toEqual([400, true]);
    }
  });

  it('take no option of ssh, no key and no program from a caller', async () => {
    const marker = at('pwned-by-option');
    const evil = `ProxyCommand=touch ${marker}`;
    const { status, json } = await ssh('ann', {
      ...{ tgt: 'h1', ssh_options: [evil], ssh_priv: `x -o ${evil}`, ssh_user: `-o${evil}`, ssh_port: `22 -o ${evil}` },
      ...{
        roster: 'scan',
        ssh_passwd_command: `touch ${marker}`,
        ssh_pre_flight: marker,
        thin_dir: '/',
        ssh_wipe: true,
      },
      ...{ config_dir: '/nonexistent', user: 'root', jid: '20200101000000000000', raw: true },
    });
    expect([status, json.return[0].h1.return]).toEqual([200, true]);
    expect(json.return[0].h1.jid).not.toBe('20200101000000000000');
    expect(existsSync(marker)).toBe(false);
    const dashed = await ssh('ann', { tgt: `-o${evil}` });
    expect([dashed.status, dashed.json.return]).toEqual([200, [{}]]);
    expect(existsSync(marker)).toBe(false);
  });

  it('are limited to some calls at once, which hold up nobody else', async () => {
    const [begun, gate] = [at('begun'), at('gate')];
    mkdirSync(begun);
    const hold = (n: number): string => `touch ${begun}/${n}; while [ ! -e ${gate} ]; do sleep 0.1; done; echo ${n}`;
    const held = Array.from({ length: 8 }, (_, n) => ssh('ann', { tgt: 'h1', fun: 'cmd.run', arg: [hold(n)] }));
    await eventually('all of them to run', () => readdirSync(begun).length === 8);
    const refused = await Promise.all(Array.from({ length: 20 }, () => ssh('ann', { tgt: 'h1' })));
    for (const { status, headers, text } of refused) {
      expect([status, headers['retry-after']], text).toEqual([429, '5']);
      expect(text).toContain('no more than 8 calls of salt-ssh at once');
    }
    const local = await api.run(tokens['ann']!, { client: 'local', tgt: 'm1', fun: 'test.ping' });
    expect(local.json.return[0]).toEqual({ m1: true });
    writeFileSync(gate, '');
    for (const [n, { status, json, text }] of (await Promise.all(held)).entries())
      expect([status, json?.return?.[0]?.h1?.return], text).toEqual([200, String(n)]);
    // The places are free again.
    const wave = await Promise.all(Array.from({ length: 8 }, () => ssh('ann', { tgt: 'h2' })));
    expect(wave.map(({ status, json }) => [status, json?.return?.[0]?.h2?.return])).toEqual(
      Array.from({ length: 8 }, () => [200, true]),
    );
  });

  it('have no shell, unless the master allows it as well as the API', async () => {
    const raw = { client: 'ssh', tgt: 'h1', fun: 'echo', arg: ['hi'], raw_shell: true };
    const { status, json } = await ssh('ann', raw);
    expect([status, json.return]).toEqual([401, 'Raw shell option not allowed.']);
    // This API allows it, the master does not.
    const other = await shell.api.run(tokens['ann']!, raw);
    expect([other.status, other.json.return]).toEqual([401, 'Raw shell option not allowed.']);
  });
});
