import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { halite } from '../command.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-config-'));
  mkdirSync(join(folder, 'master.d'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write(
    'master',
    `# A comment\nroot_dir: ${folder}\n\nlog_level: info\n'worker_threads': x\nfile_roots:\n  base: [/srv/a]\nmy.password: hidden\n`,
  );
  write('master.d/a.conf', 'log_level: error\nnodegroups: {a: "L@x"}\nsharedsecret: hunter2\n');
  write('master.d/b.conf', 'nodegroups:\n  b: "L@y"\nlog_level: debug\ninclude: ../more.conf\n');
  write('more.conf', '# included last\nlog_level: warning\n');
  write('minion', `root_dir: ${folder}\nid: m1\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]): Promise<{ out: string; err: string; code: number }> {
  let [out, err] = ['', ''];
  const io = { out: (text: string | Uint8Array) => (out += text), err: (text: string) => (err += text) };
  const code = await halite(['-c', folder, 'config', ...args], io as never);
  return { out: out.replaceAll(folder, 'ETC'), err: err.replaceAll(folder, 'ETC'), code };
}

describe('halite config', () => {
  it('names the line that counts, the others, and the default; for both daemons', async () => {
    expect(await run('log_level')).toEqual({
      out: [
        'master  log_level: warning',
        '    from: ETC/more.conf:2',
        '    also set in ETC/master:4, ETC/master.d/a.conf:1, ETC/master.d/b.conf:3, which does not count',
        '    default: warning',
        '',
        'minion  log_level: warning',
        '    from: default',
        '',
      ].join('\n'),
      err: '',
      code: 0,
    });
  });

  it('says of maps that files join them', async () => {
    const { out } = await run('nodegroups');
    expect(out).toContain('master  nodegroups: {a: L@x, b: L@y}\n    from: ETC/master.d/b.conf:1\n');
    expect(out).toContain('also set in ETC/master.d/a.conf:2; maps of included files are joined');
  });

  it('says that a value is refused, and where', async () => {
    const { out } = await run('worker_threads');
    expect(out).toMatch(/master {2}worker_threads: 5\n {4}from: default; the value in ETC\/master:5 is refused\n/);
    expect(out).toMatch(/problem: .*'worker_threads'.*int is required/);
  });

  it('tells values of this machine from defaults', async () => {
    expect((await run('pki_dir')).out).toContain(
      'master  pki_dir: ETC/etc/salt/pki/master\n    from: from this machine or other options',
    );
    expect((await run('id')).out).toContain('minion  id: m1\n    from: ETC/minion:2');
  });

  it('lists what the files set, without secrets; one that is named is shown', async () => {
    const { out } = await run();
    expect(out).toMatch(/^master\n/);
    expect(out).toMatch(/^ {2}log_level +warning +ETC\/more\.conf:2$/m);
    expect(out).toMatch(/\n\nminion\n {2}id +m1 +ETC\/minion:2$/m);
    expect(out).not.toMatch(/hunter2|hidden/);
    expect((await run('sharedsecret')).out).toContain('hunter2');
    expect((await run('*_threads')).out).toMatch(
      /^ {2}worker_threads +5 +default; the value in ETC\/master:5 is refused +\(!\)$/m,
    );
  });

  it('gives the same as data', async () => {
    const found = JSON.parse((await run('log_level', '--out=json')).out);
    expect(found[0]).toMatchObject({
      daemon: 'master',
      value: 'warning',
      origin: 'file',
      file: 'ETC/more.conf',
      line: 2,
      known: true,
    });
  });

  it('fails for an option that nobody knows, with the one that was meant', async () => {
    const { err, code } = await run('log_levl');
    expect([err, code]).toEqual([
      "ERROR: There is no option 'log_levl', and no file sets it.\nDid you mean 'log_level'?\n",
      1,
    ]);
  });
});
