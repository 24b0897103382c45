// The returners smtp and highstate: mails through a real server, and reports in files.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDict } from '../../src/base/codec/value.ts';
import { loadYaml } from '../../src/base/codec/yaml/index.ts';
import { execProgram } from '../../src/engine/exec/exec.ts';
import smtpReturner from '../../src/ext/returners/smtp.ts';
import type { ReturnerContext } from '../../src/extend/sdk/index.ts';
import { nextJid, openForTest, someReturn } from '../support/returner-suite.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { type SmtpServer, startSmtp } from '../support/servers/smtp.ts';

let plain: SmtpServer | undefined;
let secure: SmtpServer | undefined;
const folder = mkdtempSync(join(tmpdir(), 'halite-mail-'));
beforeAll(async () => {
  [plain, secure] = await Promise.all([startSmtp(), startSmtp({ tls: true })]);
});
afterAll(async () => {
  await Promise.all([plain?.stop(), secure?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Mails with a word in them; lines that were folded for the way are whole again. */
const mailsWith = (server: SmtpServer, word: string) =>
  server
    .mails()
    .map((mail) =>
      mail
        .replace(/=\r?\n/g, '')
        .replaceAll('=3D', '=')
        .replace(/\r?\n[ \t]+/g, ' '),
    )
    .filter((mail) => mail.includes(word));

/** A context in which the account of every user lies in a folder. */
function contextAt(home: string, error: (text: string) => void): ReturnerContext {
  const { signal } = new AbortController();
  const quiet = () => undefined;
  return {
    ...{ id: 'web1', opts: {}, grains: newDict(), pillar: newDict(), signal },
    log: { debug: quiet, info: quiet, warn: quiet, error },
    exec: async (file, args, options) => {
      if (file !== 'getent') return execProgram(file, args, options ?? {}, signal);
      return { pid: 1, retcode: 0, stdout: `owner:x:0:0::${home}:/bin/sh`, stderr: '', timedOut: false };
    },
    show: async () => '',
    open: async () => Promise.reject(new Error('no other returner here')),
  };
}

const smtp = (server: SmtpServer) => ({
  'smtp.from': 'salt@example.net',
  'smtp.to': 'a@example.com, b@example.com',
  'smtp.host': '127.0.0.1',
  'smtp.port': server.port,
});

describe('returner smtp', () => {
  it('sends a result', async (context) => {
    if (!plain) return context.skip();
    const jid = nextJid();
    const opts = { ...smtp(plain), 'smtp.subject': 'Job {{ jid }}', 'smtp.fields': 'id,fun' };
    const session = await openForTest('smtp', opts);
    await session.save(someReturn(jid, 'web1', { return: { up: true } }));
    const [mail, ...more] = mailsWith(plain, jid);
    expect(more).toEqual([]);
    expect(mail).toMatch(new RegExp(`^Subject: Job ${jid} web1 test.ping\\r?$`, 'm'));
    expect(mail).toMatch(/^From: salt@example\.net/m);
    expect(mail).toMatch(/^To: a@example\.com, b@example\.com/m);
    expect(mail).toContain("return: {'up': True}");
    await session.saveEvents!([{ tag: 'salt/key', data: { id: 'db1', act: 'accept', jid } }]);
    expect(mailsWith(plain, 'id: db1')).toHaveLength(1);
  });

  it('fills in a template of a file', async (context) => {
    if (!plain) return context.skip();
    const jid = nextJid();
    const template = join(folder, 'mail.j2');
    writeFileSync(template, 'Minion {{ id }} ran {{ fun }} as {{ jid }}.\n');
    const session = await openForTest('smtp', { ...smtp(plain), 'smtp.template': template });
    await session.save(someReturn(jid, 'web1'));
    const [mail] = mailsWith(plain, jid);
    expect(mail).toContain(`Minion web1 ran test.ping as ${jid}.`);
    expect(mail).toMatch(/^Subject: Email from Salt\r?$/m);
  });

  it('encrypts the connection, and trusts only configured authorities', async (context) => {
    if (!secure) return context.skip();
    const jid = nextJid();
    const careful = await openForTest('smtp', { ...smtp(secure), 'smtp.tls': true });
    await expect(careful.save(someReturn(jid, 'web1'))).rejects.toThrow(/mail server at 127\.0\.0\.1:\d+ .*self/);
    const trusting = await openForTest('smtp', { ...smtp(secure), 'smtp.tls': true, 'smtp.verify_ssl': false });
    await trusting.save(someReturn(jid, 'web1'));
    expect(mailsWith(secure, jid)).toHaveLength(1);
  });

  it('encrypts the text for the recipients, and sends nothing readable when it cannot', async (context) => {
    const gpg = preparedProgram('gpg', 'gnupg');
    if (!plain || !gpg) return context.skip();
    const home = join(folder, 'owner');
    mkdirSync(join(home, '.gnupg'), { recursive: true, mode: 0o700 });
    const run = (...args: string[]) =>
      spawnSync(gpg, ['--homedir', join(home, '.gnupg'), '--batch', '--passphrase', '', ...args], { encoding: 'utf8' });
    expect(run('--quick-gen-key', 'a@example.com', 'rsa2048', 'encrypt', '1d').status).toBe(0);
    const jid = nextJid();
    const given = { from: 'salt@example.net', host: '127.0.0.1', port: plain.port, tls: false, verify_ssl: true };
    const rest = { username: null, password: null, fields: null, template: null, renderer: 'jinja', gpgowner: 'owner' };
    const errors: string[] = [];
    const ctx = contextAt(home, (text) => errors.push(text));
    for (const to of ['a@example.com', 'stranger@example.com']) {
      const session = await smtpReturner.open({ ...given, ...rest, to, subject: `${jid} ${to}` } as never, ctx);
      await session.save(someReturn(jid, 'web1', { return: 'secret word' }));
    }
    expect(mailsWith(plain, 'secret word')).toEqual([]);
    const [mail = ''] = mailsWith(plain, `${jid} a@example.com`);
    const file = join(folder, 'mail.asc');
    writeFileSync(file, mail.slice(mail.indexOf('-----BEGIN')));
    expect(run('--decrypt', file).stdout).toContain('return: secret word');
    expect(mailsWith(plain, `${jid} stranger@example.com`)[0]).toContain(
      'Encryption failed, the return data was not sent.',
    );
    expect(errors).toHaveLength(1);
    spawnSync('gpgconf', ['--homedir', join(home, '.gnupg'), '--kill', 'all']);
  });

  it('reports an unreachable server', async () => {
    const session = await openForTest('smtp', { ...smtp({ port: 1 } as SmtpServer), 'smtp.password': 'geheim' });
    const text = await session.save(someReturn(nextJid(), 'web1')).then(String, String);
    expect(text).toContain('The mail server at 127.0.0.1:1 took no mail');
  });
});

const states = {
  'file_|-motd_|-/etc/motd_|-managed': {
    ...{ result: true, comment: 'File <updated>', changes: { diff: 'New & old' }, duration: 12.5, __run_num__: 1 },
    start_time: '10:00:00.000000',
  },
  'pkg_|-vim_|-vim_|-installed': {
    result: false,
    comment: 'No such package',
    changes: {},
    duration: 2,
    __run_num__: 0,
  },
};

describe('returner highstate', () => {
  it('writes reports into files, when there is something to report', async () => {
    const file = join(folder, 'report.yaml');
    const opts = { highstate: { file_output: join(folder, 'report{nothing}.yaml') } };
    const session = await openForTest('highstate', opts);
    const jid = nextJid();
    await session.save(someReturn(jid, 'web1'));
    await session.save(someReturn(jid, 'web1', { fun: 'grains.items', return: { a: 1 } }));
    expect(() => readFileSync(file)).toThrow();
    await session.save(someReturn(jid, 'web1', { fun: 'state.apply', return: states, retcode: 2, success: false }));
    expect(loadYaml(readFileSync(file, 'utf8'))).toMatchObject([
      {
        stats: [
          { total: 2 },
          { failed: 1, __style__: 'failed' },
          { unchanged: 0 },
          { changed: 1, __style__: 'changed' },
          { duration: 14.5 },
        ],
      },
      { job: [{ function: 'state.apply' }, { arguments: [] }, { jid }, { success: false }, { retcode: 2 }] },
      {
        states: [
          { vim: [{ function: 'pkg.installed' }, { name: 'vim' }, { result: false }, { duration: 2 }, {}] },
          { motd: [{ function: 'file.managed' }, {}, {}, {}, {}, { changes: [{ diff: 'New & old' }] }, {}] },
        ],
      },
    ]);
  });

  it('sends HTML by mail', async (context) => {
    if (!plain) return context.skip();
    const jid = nextJid();
    const session = await openForTest(
      'highstate',
      {
        'simple.highstate': {
          ...{ report_format: 'html', report_delivery: 'smtp', smtp_server: `127.0.0.1:${plain.port}` },
          ...{ smtp_recipients: 'a@example.com, b@example.com', smtp_sender: 'salt@example.com' },
          smtp_failure_subject: 'failure of {id} on {host}',
        },
      },
      { config: 'simple' },
    );
    await session.save(someReturn(jid, 'web1', { fun: 'state.apply', return: states }));
    const [mail] = mailsWith(plain, jid);
    expect(mail).toMatch(/^Subject: failure of suite-master on\s*$/m);
    expect(mail).toMatch(/^Content-Type: text\/html/m);
    expect(mail).toContain('File &lt;updated&gt;');
    expect(mail).toContain('color:green;');
  });

  it('includes the result of a function, one for success and one for failure', async () => {
    const file = join(folder, 'extra.yaml');
    const names = { failure_function: 'bad.fun', success_function: 'good.fun', report_everything: true };
    const session = await openForTest(
      'highstate',
      { highstate: { file_output: file, ...names } },
      {
        call: async (fun, args) => ({ fun, b: { d: args.length, c: 1 } }),
      },
    );
    const good = {
      'motd_|-motd_|-motd_|-x': { ...states['file_|-motd_|-/etc/motd_|-managed'], result: true, __run_num__: 0 },
    };
    for (const [returned, fun] of [
      [states, 'bad.fun'],
      [good, 'good.fun'],
    ] as const) {
      await session.save(someReturn(nextJid(), 'web1', { fun: 'state.apply', return: returned }));
      const [extra] = loadYaml(readFileSync(file, 'utf8')) as unknown[];
      expect(extra).toEqual({ extra: [{ [fun]: [{ b: [{ c: 1 }, { d: 0 }] }, { fun }] }] });
    }
  });

  it('reports where there are no functions', async () => {
    const opts = { highstate: { failure_function: 'pillar.items', file_output: join(folder, 'none.yaml') } };
    const session = await openForTest('highstate', opts);
    const ret = someReturn(nextJid(), 'web1', { fun: 'state.apply', return: states });
    await expect(session.save(ret)).rejects.toThrow('warned: ');
  });

  it('does not follow links', async () => {
    const target = join(folder, 'precious');
    writeFileSync(target, 'precious');
    symlinkSync(target, join(folder, 'link.rpt'));
    const opts = { highstate: { file_output: join(folder, 'link.rpt'), report_format: 'json' } };
    const session = await openForTest('highstate', opts);
    const ret = someReturn(nextJid(), 'web1', { fun: 'state.apply', return: ['Rendering failed'], retcode: 1 });
    await expect(session.save(ret)).rejects.toThrow('it is a symbolic link');
    expect(readFileSync(target, 'utf8')).toBe('precious');
  });
});
