// Targets that lie, ask for what is not theirs, or break the protocol: they get nothing and harm nothing.
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/sqlite/driver.ts';
import { halite } from '../support/deployment.ts';
import { freePorts } from '../support/ports.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { SshField } from '../support/ssh-field.ts';

const sshd = preparedProgram('sshd', 'openssh-server');

/**
 * A target whose `node` is a program of ours: it answers the version, and then speaks the protocol as `body` says, with
 * `ask(load)`, `send(message)` and `write(bytes)`.
 */
const liar = (body: string): string => `#!${process.execPath}
if (process.argv.includes('-p')) { console.log('22.0.0'); process.exit(0); }
// Our program is unpacked with it.
if (process.argv.includes('-e')) process.exit(require('node:child_process').spawnSync(process.execPath, process.argv.slice(2), { stdio: 'inherit' }).status);
const fs = require('node:fs');
const write = (bytes) => { try { fs.writeSync(4, bytes); } catch { process.exit(0); } };
const str = (text) => { const b = Buffer.from(text); const h = Buffer.alloc(5); h[0] = 0xdb; h.writeUInt32BE(b.length, 1); return Buffer.concat([h, b]); };
const pack = (value) => {
  if (value === null) return Buffer.from([0xc0]);
  if (value === true) return Buffer.from([0xc3]);
  if (value === false) return Buffer.from([0xc2]);
  if (typeof value === 'number') { const b = Buffer.alloc(5); b[0] = 0xce; b.writeUInt32BE(value, 1); return b; }
  if (typeof value === 'string') return str(value);
  if (Array.isArray(value)) { const h = Buffer.alloc(5); h[0] = 0xdd; h.writeUInt32BE(value.length, 1); return Buffer.concat([h, ...value.map(pack)]); }
  const entries = Object.entries(value); const h = Buffer.alloc(5); h[0] = 0xdf; h.writeUInt32BE(entries.length, 1);
  return Buffer.concat([h, ...entries.flatMap(([k, v]) => [str(k), pack(v)])]);
};
const send = (message) => { const b = pack(message); const h = Buffer.alloc(4); h.writeUInt32BE(b.length); write(Buffer.concat([h, b])); };
let n = 0;
let got = Buffer.alloc(0);
const read = (count) => { while (got.length < count) { const b = Buffer.alloc(65536); const c = fs.readSync(3, b, 0, b.length, null); if (c === 0) process.exit(0); got = Buffer.concat([got, b.subarray(0, c)]); } const part = got.subarray(0, count); got = got.subarray(count); return part; };
const line = () => { let text = ''; for (;;) { const c = read(1).toString('latin1'); if (c === '\\n') return text; text += c; } };
const frame = () => read(read(4).readUInt32BE()).toString('latin1');
const ask = (load) => { send({ t: 'call', n: ++n, load }); return frame(); };
const done = (value) => send({ t: 'done', return: value, retcode: 0 });
write('@halite-frames-1@\\n');
while (!line().endsWith('@halite-frames-1@'));
const start = frame();
${body}
setTimeout(() => {}, 60000);
`;

/** Invented requests of one target; more and others by hand. */
const frames = Number(process.env['HALITE_SSH_FRAMES'] ?? 2000);
const seed = Number(process.env['HALITE_SSH_SEED'] ?? 7);

describe.skipIf(!sshd)('a hostile target', () => {
  let field: SshField;
  let program: string;

  beforeAll(async () => {
    field = new SshField();
    program = field.write('liar/node', liar(''));
    await field.add('liar', { env: { PATH: `${field.path('liar')}:${process.env['PATH']}` } });
    field.write('srv/pillar/top.sls', 'base: {victim: [secret], liar: [own]}\n');
    field.write('srv/pillar/secret.sls', 'password: TOPSECRET\n');
    field.write('srv/pillar/own.sls', 'mine: OWNPILLAR\n');
    field.write('srv/salt/hello', 'HELLO\n');
    field.write('outside', 'OUTSIDE\n');
  });
  afterAll(() => field?.destroy());

  const attack = async (body: string, ...words: string[]) => {
    field.write('liar/node', liar(body));
    chmodSync(program, 0o755);
    const named = words.includes('-L') ? [] : ['liar'];
    return field.runAs(halite, [...named, ...(words.length > 0 ? words : ['test.ping'])], { timeoutMs: 3_600_000 });
  };

  it('gets the pillar of its own id only, whatever it claims', async () => {
    const { stdout } = await attack(
      "const own = ask({ cmd: '_pillar', id: 'victim', grains: { id: 'victim', host: 'victim' }, minion_id: 'victim' });\n" +
        "done([own.includes('OWNPILLAR'), own.includes('TOPSECRET')]);",
    );
    expect(stdout).toBe('liar:\n    - True\n    - False\n');
  });

  it('gets no file from outside the roots, and nothing that is not for targets', async () => {
    const { stdout, stderr } = await attack(
      'const found = [];\n' +
        "for (const path of ['../outside', '/etc/passwd', 'a/../../outside', '..\\u0000/x', '../../../../../../etc/passwd'])\n" +
        "  found.push(ask({ cmd: '_serve_file', path, saltenv: 'base', loc: 0 }).match(/OUTSIDE|root:/) !== null);\n" +
        "found.push(ask({ cmd: '_serve_file', path: 'hello', saltenv: 'base', loc: 0 }).includes('HELLO'));\n" +
        "for (const cmd of ['publish', 'minion_pub', 'minion_runner', 'wheel', 'runner', '_return', '_mine', '_file_recv', 'constructor', '__proto__', 'ssh-record'])\n" +
        "  found.push(ask({ cmd, fun: 'cmd.run', arg: ['touch pwned'], tgt: '*' }).includes('failure'));\n" +
        'done(found.join());',
    );
    expect(stdout).toBe(`liar:\n    ${[false, false, false, false, false, true, ...Array(11).fill(true)].join()}\n`);
    expect(stderr).toContain('a target requested what it may not have');
  });

  it.each<[string, string, RegExp]>([
    ['a message of 4 GB', "write(Buffer.from('ffffffff', 'hex'));", /what this protocol does not have/],
    ['a message that is no map', 'send([1]);', /what this protocol does not have/],
    ['a message of an unknown kind', "send({ t: 'start', id: 'x' });", /what this protocol does not have/],
    [
      'bytes without a meaning',
      "write(Buffer.concat([Buffer.from('00000003', 'hex'), Buffer.from([0xc1, 0xc1, 0xc1])]));",
      /what this protocol does not have/,
    ],
    [
      'its end in the middle of a message',
      "write(Buffer.from('00001000', 'hex')); process.exit(3);",
      /The job process ended unexpectedly/,
    ],
    ['two results', 'done(1); done(2);', /^liar:\n {4}1\n$/],
    [
      'deep nesting',
      'const deep = Buffer.concat([Buffer.alloc(3000, 0x91), Buffer.from([0xc0])]); const h = Buffer.alloc(4); h.writeUInt32BE(deep.length); write(Buffer.concat([h, deep]));',
      /what this protocol does not have/,
    ],
    [
      'a terminal that it wants to control',
      "done('\\u001b]0;pwned\\u0007\\u001b[2Jx');",
      /liar:\n {4}\?\]0;pwned\\u0007\?\[2Jx\n/,
    ],
    [
      'an outputter of its own choice',
      "send({ t: 'done', return: 'x', retcode: 0, out: '../../etc/passwd' });",
      /liar:\n {4}x/,
    ],
  ])('is cut off when it sends %s', async (_what, body, said) => {
    const { stdout, stderr, code } = await attack(body);
    expect(`${stdout}`, stderr).toMatch(said);
    expect(stdout).not.toContain('\u001b');
    expect([0, 20]).toContain(code);
  });

  it('waits when it asks faster than it reads', async () => {
    const { stdout } = await attack(
      "for (let i = 1; i <= 5000; i++) send({ t: 'call', n: i, load: { cmd: '_file_list', saltenv: 'base' } });\n" +
        'for (let i = 1; i <= 5000; i++) frame();\n' +
        "done('survived');",
    );
    expect(stdout).toBe('liar:\n    survived\n');
  });

  it(`harms nothing with ${frames} invented requests`, async () => {
    const before = readdirSync(field.path('srv'), { recursive: true });
    const { stdout, stderr } = await attack(
      // What the mine asks of this target itself.
      "if (start.includes('mine.update')) { done(true); process.exit(0); }\n" +
        `let state = ${seed};\n` +
        'const upTo = (count) => { state = (state + 0x6d2b79f5) >>> 0; let m = Math.imul(state ^ (state >>> 15), state | 1); m ^= m + Math.imul(m ^ (m >>> 7), m | 61); return ((m ^ (m >>> 14)) >>> 0) % count; };\n' +
        'const one = (list) => list[upTo(list.length)];\n' +
        "const cmds = ['_serve_file', '_file_hash', '_file_hash_and_stat', '_file_find', '_file_list', '_dir_list', '_symlink_list', '_file_envs', '_file_list_emptydirs', '_master_opts', '_master_tops', '_ext_nodes', '_minion_event', '_ssh_sdk', '_return', '_syndic_return', 'minion_pub', 'minion_runner', '_mine', '_file_recv', '_auth', 'wheel', 'runner', 'constructor', 'toString', '__proto__', '', 0, null, [], {}];\n" +
        "const names = ['path', 'saltenv', 'loc', 'gzip', 'tgt', 'fun', 'arg', 'id', 'grains', 'kept', 'tgt_type', 'prefix', 'env_only', 'tag', 'data', 'ext', 'opts', '__proto__'];\n" +
        "const values = ['hello', '../outside', '/etc/passwd', '..', 'base', '__env__', '*', '%s%n', 'x'.repeat(2000), '\\u0000', 0, 1, 4294967295, true, false, null, [], [[]], {}, { id: 'victim' }, 'victim', 'salt://hello', 'a/../../outside', '\\\\..\\\\outside', '.*', '(a+)+$'];\n" +
        'const deep = (n) => n > 0 && upTo(4) === 0 ? one([[deep(n - 1)], { [one(names)]: deep(n - 1) }]) : one(values);\n' +
        'let leaked = 0;\n' +
        `for (let sent = 0; sent < ${frames};) {\n` +
        `  const some = Math.min(200, ${frames} - sent);\n` +
        '  for (let i = 0; i < some; i++) {\n' +
        // Compiling a pillar takes long: few of them.
        "    const load = { cmd: upTo(400) === 0 ? one(['_pillar', '_mine_get', '_ssh_kept']) : one(cmds) };\n" +
        '    for (let f = upTo(5); f > 0; f--) load[one(names)] = deep(3);\n' +
        "    send({ t: 'call', n: one([++n, n, 0, 4294967295]), load: upTo(50) === 0 ? one(values) : load });\n" +
        "    if (upTo(20) === 0) send({ t: 'progress', text: one(values) });\n" +
        '  }\n' +
        '  for (let i = 0; i < some; i++) if (/OUTSIDE|TOPSECRET|root:x:0/.test(frame())) leaked++;\n' +
        '  sent += some;\n' +
        '}\n' +
        "done(leaked === 0 ? 'nothing' : leaked);",
    );
    expect(stdout, stderr.slice(0, 4000)).toBe('liar:\n    nothing\n');
    expect(stderr).not.toMatch(/TypeError|RangeError|Unhandled/);
    expect(readdirSync(field.path('srv'), { recursive: true })).toEqual(before);
    expect(existsSync('pwned')).toBe(false);
  }, 3_600_000);

  it('cannot forge results of other jobs or targets', async () => {
    const results = async (jid: string): Promise<string[]> => {
      const db = await openDatabase(field.path('cache/halite.db'), { readonly: true });
      const rows = db.prepare('SELECT id, full_ret FROM ret WHERE jid = ?').all(jid);
      db.close();
      return rows.map((row) => `${row['id']} ${JSON.parse(String(row['full_ret'])).return}`);
    };
    const bring = (jid: string, id: string, fun: string, value: string, receipt: string): string =>
      `ask({ cmd: '_ssh_kept', kept: { jid: '${jid}', fun: '${fun}', id: '${id}', return: '${value}', retcode: 0, receipt: ${receipt} } });\n`;
    // A job that was for this id, and never sent to it.
    const notSent = '20260101010101000002';
    const [closed = 0] = await freePorts(1);
    const down = field.write('etc/down', `liar: {host: 127.0.0.1, port: ${closed}}\n`);
    await field.run('--roster-file', down, '--jid', notSent, 'liar', 'test.ping');
    // A job that it was sent, and did not answer: its connection ends.
    const lost = '20260101010101000003';
    const file = JSON.stringify(field.path('receipt'));
    await attack(
      `fs.writeFileSync(${file}, /receipt\\xd9\\x2b([\\w-]{43})/.exec(start)[1]);\nprocess.exit(0);`,
      '--jid',
      lost,
      'test.ping',
    );
    const own = `fs.readFileSync(${file}, 'latin1')`;
    const { stdout, stderr } = await attack(
      bring(notSent, 'liar', 'test.ping', 'forged', "''") +
        bring(notSent, 'liar', 'test.ping', 'forged', own) +
        bring(notSent, 'liar', 'test.ping', 'forged', '{}') +
        bring(lost, 'liar', 'cmd.run', 'forged', own) +
        bring(lost, 'victim', 'test.ping', 'forged', own) +
        bring('../../x', 'liar', 'test.ping', 'forged', own) +
        bring('20260101000000000000', 'victim', 'test.ping', 'forged', own) +
        bring(lost, 'liar', 'test.ping', 'its own', own) +
        bring(lost, 'liar', 'test.ping', 'another one', own) +
        'done(true);',
    );
    expect(stdout, stderr).toBe('liar:\n    True\n');
    expect(stderr).toContain('a target brought a result of a job that was not sent to it');
    expect(await results(notSent)).toEqual([]);
    expect(await results(lost)).toEqual(['liar its own']);
    expect(await results('20260101000000000000')).toEqual([]);
    expect(existsSync('pwned')).toBe(false);
  });

  it('does not hold up others that want its mine', async () => {
    await field.add('honest');
    const [own, honest] = field.targets as [(typeof field.targets)[0], (typeof field.targets)[0]];
    const roster = field.write(
      'etc/mine',
      field.entry(own, 'timeout: 2') + field.entry(honest, 'mine_functions: {test.echo: [mined]}'),
    );
    field.write(
      'srv/salt/asks.sls',
      "mine:\n  test.show_notification:\n    - text: \"{{ salt['mine.get']('*', 'test.echo') }}\"\n",
    );
    const silent = "if (start.includes('mine.update')) for (;;) read(1);\ndone(true);";
    const { stdout } = await attack(silent, '--roster-file', roster, '-L', 'liar,honest', 'state.apply', 'asks');
    expect(stdout).toContain("{'honest': 'mined'}");
  });

  it('sends a million bytes of noise before its first word, and is not believed', async () => {
    field.write(
      'liar/node',
      `#!/bin/sh\ncase "$*" in *-p*) echo 22.0.0; exit 0;; -e*) exec ${process.execPath} "$@";; esac\nhead -c 1000000 /dev/zero | tr '\\0' 'x' >&4\nsleep 30\n`,
    );
    chmodSync(program, 0o755);
    const { stdout, code } = await field.run('liar', 'test.ping');
    expect(stdout).toContain('text before its first message');
    expect(code).toBe(20);
  });
});
