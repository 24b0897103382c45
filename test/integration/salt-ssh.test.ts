// salt-ssh over Debian's sshd: shell commands, functions, states, the history, and nothing left behind.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { halite, runProgram } from '../support/deployment.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { SshField } from '../support/ssh-field.ts';

const sshd = preparedProgram('sshd', 'openssh-server');
const inNamespaces = process.getuid?.() === 0;

describe.skipIf(!sshd)('hosts without a minion', () => {
  let field: SshField;
  const web = (): string => field.path('targets/web');

  beforeAll(async () => {
    field = new SshField();
    await field.add('web', { entry: 'grains: {role: front}, minion_opts: {colour: red}' });
    await field.add('db', {
      entry:
        "mine_functions: {test.echo: [mined], secret: [{mine_function: test.echo}, hidden, {allow_tgt: 'nobody'}]}",
    });
    field.write('srv/pillar/top.sls', "base: {web: [own], '*': [all]}\n");
    field.write('srv/pillar/own.sls', "secret: of {{ grains['id'] }} which is {{ grains['role'] }}\n");
    field.write('srv/pillar/all.sls', 'shared: yes it is\n');
  });
  afterAll(() => field?.destroy());

  it('run shell commands, and keep nothing', async () => {
    const { stdout, code } = await field.run('*', '-r', 'echo hi; echo no >&2; exit 3');
    expect(stdout).toContain(
      'web:\n    ----------\n    retcode:\n        3\n    stderr:\n        no\n    stdout:\n        hi',
    );
    expect(code).toBe(20);
    expect(await field.json('web', '-r', 'echo', '$((40 + 2))')).toEqual({
      web: { retcode: 0, stderr: '', stdout: '42\n' },
    });
    expect(existsSync(web())).toBe(false);
    expect(readdirSync(field.path('tmp'))).toEqual([]);
  });

  it('run functions, with grains and options of the roster, and send nothing twice', async () => {
    const { stdout, stderr, code } = await field.run('web', 'test.ping');
    expect([stdout, code], stderr).toEqual(['web:\n    True\n', 0]);
    expect(statSync(web()).mode & 0o777).toBe(0o700);
    const files = readdirSync(join(web(), 'halite')).sort();
    expect(files).toEqual([expect.stringMatching(/^app-[0-9a-f]{16}\.cjs$/), 'own-node']);
    const before = statSync(join(web(), 'halite', files[0]!)).mtimeMs;
    expect(await field.json('*', 'grains.item', 'id', 'role')).toEqual({
      web: { id: 'web', role: 'front' },
      db: { id: 'db', role: '' },
    });
    expect(await field.json('web', 'config.get', 'colour')).toEqual({ web: 'red' });
    expect(await field.json('web', 'test.arg', '1', 'a=[1, 2]')).toMatchObject({
      web: { args: [1], kwargs: { a: [1, 2] } },
    });
    expect(statSync(join(web(), 'halite', files[0]!)).mtimeMs).toBe(before);
  });

  it('get their own pillar', async () => {
    expect(await field.json('*', 'pillar.items')).toEqual({
      web: { secret: 'of web which is front', shared: 'yes it is' },
      db: { shared: 'yes it is' },
    });
  });

  it('fail as functions do, with the exit code of Salt', async () => {
    const missing = await field.run('web', 'no.such');
    expect(missing.code).toBe(20);
    expect(missing.stdout).toContain("'no.such' is not available.");
    const failing = await field.run('web', 'cmd.run', 'exit 5');
    expect(failing.code).toBe(20);
    expect((await field.run('web', 'test.false')).stdout).toBe('web:\n    False\n');
  });

  it('apply states with files, pillar and templates from here', async () => {
    const out = field.path('out');
    field.write(
      'srv/salt/site.sls',
      [
        `{% for name in ['one', 'two'] %}`,
        `${out}/{{ name }}:`,
        '  file.managed:',
        // Salt's own salt-ssh looks for the word salt:// before templates are rendered.
        "    - source: {{ 'salt:' ~ '//' ~ 'files/' ~ name }}",
        '    - template: jinja',
        '    - makedirs: True',
        '{% endfor %}',
        'said:',
        '  cmd.run:',
        `    - name: echo {{ pillar['shared'] }} > ${out}/said`,
        `    - creates: ${out}/said`,
        '    - require:',
        `      - file: ${out}/one`,
        '',
      ].join('\n'),
    );
    field.write('srv/salt/files/one', "{{ grains['id'] }} {{ pillar['secret'] }}\n");
    field.write('srv/salt/files/two', 'x'.repeat(700_000));
    const first = await field.run('web', 'state.apply', 'site');
    expect(first.stderr).toBe('');
    expect(first.stdout).toMatch(/Succeeded: 3 \(changed=3\)/);
    expect(first.code).toBe(0);
    expect(readFileSync(join(out, 'one'), 'utf8')).toBe('web of web which is front\n');
    expect(statSync(join(out, 'two')).size).toBe(700_000);
    expect(readFileSync(join(out, 'said'), 'utf8')).toBe('yes it is\n');
    const again = await field.run('web', 'state.apply', 'site');
    expect(again.stdout).toMatch(/Succeeded: 3\n/);
    const cached = join(web(), 'running_data/var/cache/salt/minion/files/base/files/two');
    expect(statSync(cached).size).toBe(700_000);
    // The same as a machine that does it alone.
    const local = ['--local', '-c', field.path('etc'), '--out=json', '--id=web'];
    const roots = [`--file-root=${field.path('srv/salt')}`, `--pillar-root=${field.path('srv/pillar')}`];
    const call = join(halite.bin, 'salt-call');
    field.write('etc/minion', `root_dir: ${field.path('alone')}\ngrains: {role: front}\n`);
    const alone = await runProgram(call, [...local, ...roots, 'state.show_low_sls', 'site']);
    const low = await field.json('web', 'state.show_low_sls', 'site');
    expect(low['web']).toEqual((JSON.parse(alone.stdout) as { local: unknown }).local);
  });

  it('fetch a large file, and send little after an update', async () => {
    const large = Buffer.alloc(24 << 20, 'large ');
    writeFileSync(field.path('srv/salt/large'), large);
    field.write('srv/salt/large.sls', `${field.path('out/large')}:\n  file.managed:\n    - source: salt://large\n`);
    const { stdout, stderr } = await field.run('web', 'state.apply', 'large');
    expect(stdout).toContain('Succeeded: 1 (changed=1)');
    expect(stderr).toBe('');
    expect(readFileSync(field.path('out/large')).equals(large)).toBe(true);
    // What an update of Halite sends to a target that has its runtime.
    const runtimes = field.path('cache/ssh/runtimes');
    const [program = ''] = readdirSync(runtimes).filter((name) => name.startsWith('app-'));
    expect(statSync(join(runtimes, program)).size).toBeLessThan(1_000_000);
  });

  it('report states that fail, and what does not render', async () => {
    field.write('srv/salt/bad.sls', 'broken:\n  cmd.run:\n    - name: exit 7\n');
    const failed = await field.run('web', 'state.apply', 'bad');
    expect(failed.stdout).toMatch(/Failed: {4}1/);
    expect(failed.code).toBe(20);
    field.write('srv/salt/worse.sls', '{{ nothing.at.all }}\n');
    const worse = await field.run('web', 'state.apply', 'worse');
    expect(worse.stdout).toContain('Rendering SLS');
    expect(worse.code).toBe(20);
  });

  it('use extensions from the file server', async () => {
    field.write(
      'srv/salt/_modules/greet.ts',
      "import { defineModule, fn, p } from 'halite/sdk';\nimport { shellSplit } from 'halite/sdk/text';\n" +
        "export default defineModule({ name: 'greet', doc: 'Greets.', functions: { hello: fn({ doc: 'Greets.', params: { who: p.string({ doc: 'who' }) }, run: ({ who }: { who: string }, ctx) => 'hello ' + shellSplit(who).join('+') + ' from ' + ctx.id }) } });\n",
    );
    expect(await field.json('*', 'greet.hello', 'a b')).toEqual({ web: 'hello a+b from web', db: 'hello a+b from db' });
  });

  it('read the mine of others as far as they may', async () => {
    field.write(
      'srv/salt/mined.sls',
      "found:\n  test.show_notification:\n    - text: \"{{ salt['mine.get']('*', 'test.echo') }} {{ salt['mine.get']('*', 'secret') }}\"\n",
    );
    const { stdout } = await field.run('web', 'state.apply', 'mined');
    expect(stdout).toContain("{'db': 'mined'} {}");
  });

  it('are asked for their mine beside a job of their own, and keep nothing of both with -w', async () => {
    const gate = field.path('mine-gate');
    const lines = [
      "{% if grains['id'] == 'web' %}",
      'tell:',
      '  cmd.run:',
      `    - name: echo {{ salt['mine.get']('db', 'test.echo')['db'] }} > ${gate}`,
      '{% else %}',
      'wait:',
      '  cmd.run:',
      `    - name: while [ ! -e ${gate} ]; do sleep 0.1; done; ls ${field.path('targets/db/halite')}`,
      '{% endif %}',
      '',
    ];
    field.write('srv/salt/both.sls', lines.join('\n'));
    const { stdout, stderr } = await field.run('-w', '-L', 'web,db', 'state.apply', 'both');
    expect(stdout, stderr).toMatch(/stdout:\s+app-/);
    expect(readFileSync(gate, 'utf8')).toBe('mined\n');
    expect(readdirSync(field.path('targets'))).toEqual([]);
  });

  it('leave nothing behind with -w and -W', async () => {
    expect((await field.run('db', 'test.ping', '-w')).stdout).toBe('db:\n    True\n');
    expect(existsSync(field.path('targets/db'))).toBe(false);
    // Other tests and programs of the machine have folders there too.
    const ours = (): string[] => readdirSync('/var/tmp').filter((name) => /^\.[0-9a-f]{12}$/.test(name));
    const before = ours();
    field.write('etc/other', field.entry(field.targets[1]!).replace(/thin_dir: [^,}]+[,]? ?/, ''));
    const random = await field.run('--roster-file', field.path('etc/other'), '-W', 'db', 'test.ping');
    expect(random.stdout, random.stderr).toBe('db:\n    True\n');
    expect(ours()).toEqual(before);
  });

  it.skipIf(!inNamespaces)('bring their runtime to a machine without one', async () => {
    const { folder } = await field.add('bare', { node: false });
    const { stdout, stderr } = await field.run('bare', 'test.ping');
    expect(stdout, stderr).toBe('bare:\n    True\n');
    const files = readdirSync(join(folder, 'halite'))
      .filter((name) => /^(app|node|own-node)/.test(name))
      .sort();
    expect(files).toEqual([expect.stringMatching(/^app-/), expect.stringMatching(/^node-[0-9a-f]{16}$/)]);
    const runtime = statSync(join(folder, 'halite', files[1]!));
    expect((await field.run('bare', 'test.ping')).stdout).toBe('bare:\n    True\n');
    expect(statSync(join(folder, 'halite', files[1]!)).mtimeMs).toBe(runtime.mtimeMs);
  });

  it('list the hosts, and say when none matches', async () => {
    const { stdout, code } = await field.run('-H');
    expect(stdout).toContain(`${field.path('etc/roster')}:\n    ----------\n`);
    expect(stdout).toContain('    db:\n        127.0.0.1\n');
    expect(code).toBe(0);
    const none = await field.run('nobody.invalid', 'test.ping');
    expect(none.stderr).toContain('No matching targets found in roster.');
    expect(none.code).toBe(2);
    const kind = await field.run('-G', 'os:Debian', 'test.ping');
    expect(kind.stderr).toContain('A roster cannot be asked by grain');
    expect((await field.run('web')).code).toBe(64);
  });

  it.each([
    ['salt-cloud', 'Terraform'],
    ['spm', 'gitfs_remotes'],
    ['salt-extend', 'docs/guide/extensions.md'],
  ])('%s says in one sentence what to use instead', async (name, instead) => {
    const { stdout, stderr, code } = await runProgram(join(halite.bin, name), ['-p', 'profile', 'web1']);
    expect([stdout, code]).toEqual(['', 69]);
    expect(stderr).toMatch(new RegExp(`^${name} is not part of Halite: .*${instead.replaceAll('.', '\\.')}.*\\.\n$`));
  });
});
