// Ways to a target and what surrounds a job: Saltfile, agent, jump host, script before the first job, encrypted pillar.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { SshField } from '../support/ssh-field.ts';

const sshd = preparedProgram('sshd', 'openssh-server');
const gpg = preparedProgram('gpg', 'gnupg');

describe.skipIf(!sshd)('targets of salt-ssh', () => {
  let field: SshField;

  beforeAll(async () => {
    field = new SshField();
    for (const id of ['web', 'gate']) await field.add(id);
  });
  afterAll(() => field?.destroy());

  it('are described by a Saltfile, which the command line overrides', async () => {
    const roster = field.write('other/roster', field.entry({ ...field.targets[0]!, id: 'named' }));
    const file = field.write(
      'Saltfile',
      `salt-ssh:\n  config_dir: ${field.path('etc')}\n  roster_file: ${roster}\n  ssh_max_procs: 1\n  output: json\n`,
    );
    const bin = join(halite.bin, 'salt-ssh');
    const ask = (words: readonly string[], env: NodeJS.ProcessEnv = {}) => runProgram(bin, words, { env });
    const words = ['*', 'test.ping', '--static'];
    expect(JSON.parse((await ask(['--saltfile', file, ...words])).stdout)).toEqual({ named: true });
    expect(JSON.parse((await ask(words, { SALT_SALTFILE: file })).stdout)).toEqual({ named: true });
    const overridden = ['--saltfile', file, '--roster-file', field.path('etc/roster'), ...words];
    expect(JSON.parse((await ask(overridden)).stdout)).toEqual({ web: true, gate: true });
  });

  it('are opened by a key that only an agent has', async () => {
    const socket = field.path('agent');
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
    try {
      await eventually('the agent', () => existsSync(socket));
      const [web] = field.targets;
      const env = { SSH_AUTH_SOCK: socket };
      const entry = field.entry(web!).replace(`priv: ${web!.sshd.key}`, 'priv: agent-forwarding');
      const roster = ['--roster-file', field.write('etc/agent', entry), 'web', 'test.ping'];
      expect((await field.runAs(halite, roster, { env })).stdout).toContain('Permission denied');
      execFileSync('ssh-add', ['-q', web!.sshd.key], { env: { ...process.env, ...env } });
      expect((await field.runAs(halite, roster, { env })).stdout).toBe('web:\n    True\n');
    } finally {
      agent.kill();
    }
  });

  it('are behind a jump host of the configuration of ssh', async () => {
    const [web, gate] = field.targets.map(({ sshd: server }) => server) as [
      (typeof field.targets)[0]['sshd'],
      (typeof field.targets)[0]['sshd'],
    ];
    const known = field.write('both-known', readFileSync(web.known, 'utf8') + readFileSync(gate.known, 'utf8'));
    const config = [
      `Host inner\n  HostName 127.0.0.1\n  Port ${web.port}\n  IdentityFile ${web.key}\n  ProxyJump outer\n`,
      `Host outer\n  HostName 127.0.0.1\n  Port ${gate.port}\n  IdentityFile ${gate.key}\n`,
      `Host *\n  User root\n  UserKnownHostsFile ${known}\n`,
    ];
    field.write('etc/master.d/jump.conf', `ssh_config_file: ${field.write('ssh_config', config.join(''))}\n`);
    field.write(
      'etc/inner',
      `inner: {thin_dir: ${field.path('targets/inner')}, priv: ${web.key}, port: ${web.port}, host: inner}\n`,
    );
    const before = gate.log().match(/Accepted publickey/g)?.length ?? 0;
    const { stdout, stderr } = await field.run('--roster-file', field.path('etc/inner'), 'inner', 'test.ping');
    expect(stdout, stderr).toBe('inner:\n    True\n');
    expect(gate.log().match(/Accepted publickey/g)).toHaveLength(before + 1);
    field.write('etc/master.d/jump.conf', '');
  });

  it('run a script before the first job, and no job when it fails', async () => {
    const said = field.path('pre-flight-said');
    const script = field.write('pre-flight', `echo "$1-$2" >> ${said}\n[ "$2" != bad ] || { echo why >&2; exit 9; }\n`);
    const [web] = field.targets;
    const target = { ...web!, folder: field.path('targets/fresh') };
    const with_ = (last: string): string[] => [
      '--roster-file',
      field.write('etc/flight', field.entry(target, `ssh_pre_flight: ${script}, ssh_pre_flight_args: [one, ${last}]`)),
    ];
    const failed = await field.run(...with_('bad'), 'web', 'test.ping');
    expect(failed.stdout).toMatch(/retcode:\s+9\s+stderr:\s+why/);
    expect(failed.code).toBe(20);
    for (const more of [[], [], ['--pre-flight']])
      expect((await field.run(...with_('good'), ...more, 'web', 'test.ping')).stdout).toBe('web:\n    True\n');
    // The second job found the folder.
    expect(readFileSync(said, 'utf8')).toBe('one-bad\none-good\none-good\n');
  });

  it('end a script before the first job when they are interrupted, and at a deadline', async () => {
    const [begun, gate, ran] = ['flight-begun', 'flight-gate', 'flight-ran'].map((name) => field.path(name)) as [
      string,
      string,
      string,
    ];
    const script = field.write('slow-flight', `echo x > ${begun}\nwhile [ ! -e ${gate} ]; do sleep 0.1; done\n`);
    const entry = field.entry(
      { ...field.targets[0]!, folder: field.path('targets/slow') },
      `ssh_pre_flight: ${script}`,
    );
    const words = ['--roster-file', field.write('etc/slow', entry), 'web', 'cmd.run', `touch ${ran}`];
    const late = await field.run('--deadline', '2s', ...words);
    expect(late.stdout).toContain('The deadline of the job passed');
    expect(late.code).toBe(20);
    rmSync(begun, { force: true });
    const { pid, done } = field.start(...words);
    await eventually('the script to run', () => existsSync(begun));
    process.kill(pid, 'SIGINT');
    const { code, stdout } = await done;
    expect(stdout).toContain('The command was interrupted');
    expect(code).toBe(130);
    writeFileSync(gate, '');
    expect(existsSync(ran)).toBe(false);
  });

  it.skipIf(!gpg)(
    'have a pillar that is decrypted here',
    async () => {
      const keys = field.path('gpgkeys');
      const run = (args: string[], input = ''): string =>
        execFileSync('gpg', ['--homedir', keys, '--batch', '--trust-model', 'always', ...args], {
          input,
          encoding: 'utf8',
          stdio: ['pipe', 'pipe', 'ignore'],
        });
      execFileSync('mkdir', ['-m', '700', keys]);
      try {
        run(['--passphrase', '', '--quick-gen-key', 'master@example.com', 'future-default', 'default', 'never']);
        const text = run(['--armor', '--encrypt', '-r', 'master@example.com'], 'hidden word');
        field.write('srv/pillar/top.sls', "base: {'*': [sealed]}\n");
        field.write('srv/pillar/sealed.sls', `#!yaml|gpg\nsealed: |\n${text.replaceAll(/^/gm, '  ')}\n`);
        field.write('etc/master.d/gpg.conf', `gpg_keydir: ${keys}\n`);
        expect(await field.json('web', 'pillar.get', 'sealed')).toEqual({ web: 'hidden word' });
      } finally {
        execFileSync('gpgconf', ['--homedir', keys, '--kill', 'all']);
      }
    },
    60_000,
  );
});
