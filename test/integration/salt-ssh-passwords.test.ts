// Passwords, passphrases and sudo of salt-ssh: they open targets, and are seen nowhere.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { readIfThere, SshField } from '../support/ssh-field.ts';

const sshd = preparedProgram('sshd', 'openssh-server');
const sudo = preparedProgram('sudo', 'sudo');
const inNamespaces = process.getuid?.() === 0;
const secret = 'correct horse $battery "staple"';

/** Where any process shows the text: arguments and environment. */
function shownBy(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => ['cmdline', 'environ'].some((file) => readIfThere(`/proc/${pid}/${file}`).includes(text)));
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true);

describe.skipIf(!sshd || !inNamespaces)('passwords of salt-ssh', () => {
  let field: SshField;

  beforeAll(async () => {
    field = new SshField();
    // Accepts no key until one is put there; the home of root is one of its own.
    mkdirSync(field.path('home'));
    await field.add('locked', {
      password: secret,
      authorized: '',
      mounts: `mount --bind ${field.path('home')} /root`,
      lines: [],
    });
  });
  afterAll(() => field?.destroy());

  const withPassword = (args: readonly string[], input = `${secret}\n`) =>
    field.runAs(halite, ['--askpass', ...args], { input });

  it('open a target, and are in no argument, environment, log or event meanwhile', async () => {
    const [gate, begun] = [field.path('gate'), field.path('begun')];
    const running = withPassword([
      '-l',
      'trace',
      'locked',
      'cmd.run',
      `touch ${begun}; while [ ! -e ${gate} ]; do sleep 0.1; done; echo open`,
    ]);
    await eventually('the command to run', () => existsSync(begun));
    const seen = shownBy('horse $battery');
    writeFileSync(gate, '');
    const { stdout, stderr, code } = await running;
    expect(stdout, stderr).toBe('locked:\n    open\n');
    expect(code).toBe(0);
    expect(seen).toEqual([]);
    expect(stderr).not.toContain('horse');
    for (const file of filesBelow(field.root)) expect(readIfThere(file).includes('horse $battery'), file).toBe(false);
  });

  it('that are wrong are told once, and refused', async () => {
    const wrong = await withPassword(['locked', 'test.ping'], 'wrong\n');
    expect(wrong.stdout).toMatch(/Permission denied/);
    expect(wrong.code).toBe(20);
    const none = await field.run('locked', 'test.ping');
    expect(none.stdout).toMatch(/Permission denied/);
  });

  it('come from a program too', async () => {
    const program = field.write('tell', `#!/bin/sh\ncat <<'X'\n${secret}\nX\n`);
    field.write('etc/master.d/password.conf', `ssh_passwd_command: [/bin/sh, ${program}]\n`);
    expect((await field.run('locked', '-r', 'echo in')).stdout).toContain('in');
    field.write('etc/master.d/password.conf', 'ssh_passwd_command: exit 3\n');
    const failed = await field.run('locked', '-r', 'echo in');
    expect(failed.stderr).toContain('ssh_passwd_command failed (3)');
    expect(failed.code).not.toBe(0);
    field.write('etc/master.d/password.conf', '');
  });

  it('are told to the target, and to no host that leads there', async () => {
    const gate = await field.add('gate', { password: secret });
    const { sshd: server, folder } = field.targets[0]!;
    const known = field.write('both-known', readFileSync(server.known, 'utf8') + readFileSync(gate.sshd.known, 'utf8'));
    const through = (key: string) => {
      const config = [
        `Host inner\n  HostName 127.0.0.1\n  ProxyJump outer\n`,
        `Host outer\n  HostName 127.0.0.1\n  Port ${gate.sshd.port}\n  IdentityFile ${key}\n  IdentitiesOnly yes\n`,
        `Host *\n  User root\n  UserKnownHostsFile ${known}\n`,
      ];
      field.write('etc/master.d/jump.conf', `ssh_config_file: ${field.write('ssh_config', config.join(''))}\n`);
      const roster = field.write('etc/inner', `inner: {host: inner, port: ${server.port}, thin_dir: ${folder}}\n`);
      return withPassword(['--roster-file', roster, 'inner', 'test.ping']);
    };
    try {
      const refused = await through(field.path('no-such-key'));
      expect(refused.stdout).toContain('Permission denied');
      expect(refused.code).toBe(20);
      expect(gate.sshd.log()).not.toContain('Accepted password');
      const { stdout, stderr } = await through(gate.sshd.key);
      expect(stdout, stderr).toBe('inner:\n    True\n');
      expect(gate.sshd.log()).not.toContain('Accepted password');
    } finally {
      field.write('etc/master.d/jump.conf', '');
    }
  });

  it('of keys are told to ssh', async () => {
    const key = field.path('phrased');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'pass phrase', '-f', key]);
    const opened = await field.add('phrased', { authorized: readFileSync(`${key}.pub`, 'utf8') });
    const entry = field
      .entry(opened, "priv_passwd: 'pass phrase', identities_only: True")
      .replace(opened.sshd.key, key);
    const roster = field.write('etc/phrased', entry);
    expect((await field.run('--roster-file', roster, 'phrased', 'test.ping')).stdout).toBe('phrased:\n    True\n');
    const without = field.write('etc/unphrased', entry.replace("priv_passwd: 'pass phrase', ", ''));
    const refused = await field.run('--roster-file', without, 'phrased', 'test.ping');
    expect(refused.stdout).toContain('Private key file need passphrase');
    expect(refused.code).toBe(20);
  });

  it('put the key of the master on a target once', async () => {
    const key = field.path('deployed');
    const { sshd: server, folder } = field.targets[0]!;
    const entry = `locked: {host: 127.0.0.1, port: ${server.port}, user: root, thin_dir: ${folder}, ssh_options: ['UserKnownHostsFile=${server.known}']}\n`;
    const roster = field.write('etc/deploy', entry);
    const args = ['--roster-file', roster, '--priv', key, '--key-deploy', 'locked', 'test.ping'];
    expect((await withPassword(args)).stdout).toBe('locked:\n    True\n');
    const authorized = field.path('home/.ssh/authorized_keys');
    expect(readFileSync(authorized, 'utf8')).toBe(readFileSync(`${key}.pub`, 'utf8'));
    expect(statSync(authorized).mode & 0o777).toBe(0o600);
    await withPassword(args);
    expect(readFileSync(authorized, 'utf8').split('\n')).toHaveLength(2);
  });

  it.skipIf(!sudo)('of sudo reach it through the session, with and without a terminal', async () => {
    const [passwd, shadow, rules] = ['passwd', 'shadow', 'sudoers'].map((name) => field.path(name)) as [
      string,
      string,
      string,
    ];
    const hash = execFileSync('openssl', ['passwd', '-6', '-stdin'], { input: secret, encoding: 'utf8' }).trim();
    writeFileSync(
      passwd,
      `${readFileSync('/etc/passwd', 'utf8')}helper:x:64001:65534::${field.path('helper')}:/bin/sh\n`,
    );
    writeFileSync(shadow, `${readFileSync('/etc/shadow', 'utf8')}helper:${hash}:19000:0:99999:7:::\n`, {
      mode: 0o640,
    });
    writeFileSync(rules, 'helper ALL=(ALL) ALL\nDefaults:helper !lecture\n', { mode: 0o440 });
    mkdirSync(field.path('helper'), { mode: 0o777 });
    const mounts = [
      [passwd, '/etc/passwd'],
      [shadow, '/etc/shadow'],
      [rules, '/etc/sudoers'],
    ].map(([from, to]) => `mount --bind ${from} ${to}`);
    // sshd reads it as that user, who has no access to the folder of the test.
    const key = field.path('helper-key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const place = ['mount -t tmpfs tmpfs /mnt', `cp ${key}.pub /mnt/keys`];
    const served = await field.add('helped', {
      mounts: [...mounts, ...place].join('\n'),
      lines: ['AuthorizedKeysFile /mnt/keys'],
    });
    const entry = (more: string): string =>
      field.entry(served, `sudo: True, ${more}`).replace('user: root', 'user: helper').replace(served.sshd.key, key);
    const asks = (more: string, ...words: string[]) =>
      field.run('--roster-file', field.write('etc/sudo', entry(more)), 'helped', ...words);
    expect((await asks('tty: False', 'test.ping')).stdout).toContain('Sudo password is required but not provided');
    const quoted = `sudo_passwd: '${secret}'`;
    expect((await asks(quoted, 'cmd.run', 'id -un')).stdout).toBe('helped:\n    root\n');
    expect((await asks(`${quoted}, tty: True`, 'cmd.run', 'id -un')).stdout).toBe('helped:\n    root\n');
    expect((await asks('sudo_passwd: wrong', 'test.ping')).stdout).toContain('Password authentication failed');
    appendFileSync(rules, 'Defaults:helper requiretty\n');
    expect((await asks(`${quoted}, tty: True`, 'cmd.run', 'id -un')).stdout).toBe('helped:\n    root\n');
    expect((await asks(quoted, 'test.ping')).stdout).toContain('you must have a tty');
  });
});
