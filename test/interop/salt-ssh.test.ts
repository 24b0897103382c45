// salt-ssh of Salt 3006.27 and ours on the same hosts: hosts, rosters, output of shell commands, exit codes.
import { chmodSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandResult, halite } from '../support/deployment.ts';
import { freePorts } from '../support/ports.ts';
import { saltRelease } from '../support/salt-release.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { SshField } from '../support/ssh-field.ts';

const sshd = preparedProgram('sshd', 'openssh-server');

/** What Terraform writes for hosts of the provider `salt`, beside other resources: with `count`, and one alone. Nobody is there:
 * Salt waits for ever for a host whose key it does not know. */
function terraformState({ targets }: SshField, port: number): object {
  const unset = { cmd_umask: null, minion_opts: null, sudo: null, sudo_user: null, thin_dir: null, timeout: null };
  const provider = 'provider["registry.terraform.io/dmacvicar/salt"]';
  const instances = targets.map(({ id, sshd: { key } }, at) => ({
    ...{ index_key: at, schema_version: 0, sensitive_attributes: [], private: 'bnVsbA==' },
    attributes: { ...unset, host: '127.0.0.1', id, passwd: '', port, priv: key, salt_id: id, tty: null, user: 'root' },
  }));
  const [alone = {}] = instances;
  return {
    ...{ version: 4, terraform_version: '1.11.4', serial: 3, lineage: 'x', outputs: {}, check_results: null },
    resources: [
      { mode: 'data', type: 'http', name: 'x', provider, instances: [{ schema_version: 0, attributes: {} }] },
      { mode: 'managed', type: 'salt_host', name: 'each', provider, instances },
      { module: 'module.a', mode: 'managed', type: 'salt_host', name: 'alone', provider, instances: [alone] },
      { mode: 'managed', type: 'salt_host', name: 'none', provider, instances: [] },
    ],
  };
}

function oldTerraformState({ targets }: SshField, port: number): object {
  const resources = targets.map(({ id }, at) => [
    `salt_host.each.${at}`,
    {
      ...{ type: 'salt_host', depends_on: [], deposed: [], provider: 'provider.salt' },
      primary: {
        ...{ id, meta: {}, tainted: false },
        attributes: { host: '127.0.0.1', id, port: String(port), salt_id: id, user: 'root' },
      },
    },
  ]);
  const modules = [{ path: ['root'], outputs: {}, resources: Object.fromEntries(resources), depends_on: [] }];
  return { version: 3, terraform_version: '0.11.14', serial: 1, lineage: 'x', modules };
}

describe.skipIf(!sshd)('salt-ssh beside that of Salt', () => {
  let field: SshField;
  let closed: number;

  beforeAll(async () => {
    field = new SshField('ssh_list_nodegroups: {fronts: [web1, web2], texts: "db,nobody"}');
    [closed = 0] = await freePorts(1);
    for (const id of ['web1', 'web2', 'db']) await field.add(id);
  });
  afterAll(() => field?.destroy());

  const both = async (...args: string[]): Promise<[ours: CommandResult, theirs: CommandResult]> => {
    const ours = await field.runAs(halite, args);
    // Salt builds an archive of its Python program first.
    const theirs = await field.runAs(saltRelease('3006.27'), args, { timeoutMs: 240_000 });
    return [ours, theirs];
  };
  /** What both print, in whatever order the hosts answered; Salt's terminal adds carriage returns. */
  const byHost = ({ stdout }: CommandResult): string[] =>
    stdout
      .replaceAll('\r', '')
      .split(/^(?=\S)/m)
      .map((text) => text.trimEnd())
      .sort();

  it('lists the same hosts', async () => {
    const [ours, theirs] = await both('-H');
    expect(ours.stdout, theirs.stderr).toBe(theirs.stdout);
    expect(ours.code).toBe(theirs.code);
  });

  it.each<[string, string[]]>([
    ['a glob', ['web*', '-r', 'echo out; echo err >&2; exit 3']],
    ['a list', ['-L', 'web1,db', '-r', 'echo', '$((1 + 1))', '&&', 'echo', 'more']],
    ['an expression', ['-E', '(web2|db)', '-r', 'printf "a\\nb\\n"']],
    ['a node group', ['-N', 'fronts', '-r', 'true']],
    ['a node group as text', ['-N', 'texts', '-r', 'exit 1']],
    ['a command that does not exist', ['db', '-r', 'no-such-command-here']],
    ['a command that prints its own result', ['db', '-r', 'echo \'{"local": {"return": 7, "retcode": 4}}\'']],
  ])('runs shell commands with the same output and exit code: %s', async (_what, args) => {
    const [ours, theirs] = await both(...args);
    expect(byHost(ours), theirs.stderr).toEqual(byHost(theirs));
    expect(ours.code).toBe(theirs.code);
  });

  it('says the same of hosts that cannot be reached or refuse', async () => {
    const roster = field.write(
      'etc/bad',
      `down: {host: 127.0.0.1, port: ${closed}, user: root, priv: ${field.targets[0]!.sshd.key}}\n`,
    );
    const [ours, theirs] = await both('--roster-file', roster, 'down', '-r', 'true');
    expect(byHost(ours), theirs.stderr).toEqual(byHost(theirs));
    expect(ours.code).toBe(theirs.code);
  });

  it.each<[string, string, (field: SshField) => string]>([
    [
      'dir',
      'roster_dir',
      (each) => {
        for (const target of each.targets)
          each.write(`roster.d/${target.id}`, each.entry(target).replace(/^\w+: /, ''));
        return each.path('roster.d');
      },
    ],
    [
      'sshconfig',
      'ssh_config_file',
      (each) =>
        each.write(
          'ssh_config',
          `${each.targets
            .map(
              ({ id, sshd: { port, key } }) =>
                `Host ${id} also-${id}\n  Port ${port}\n  User root\n  IdentityFile ${key}\n`,
            )
            .join('')}Host web*\n  User nobody\n`,
        ),
    ],
    [
      'sshknownhosts',
      'ssh_known_hosts_file',
      (each) => each.write('known_hosts', 'web1,10.0.0.1 ssh-ed25519 AAAA\nweb2 ssh-rsa AAAA\n'),
    ],
    ['terraform', 'roster_file', (each) => each.write('now.tfstate', JSON.stringify(terraformState(each, closed)))],
    [
      'terraform (before 0.12)',
      'roster_file',
      (each) => each.write('old.tfstate', JSON.stringify(oldTerraformState(each, closed))),
    ],
  ])('matches the same ids of the roster %s', async (about, option, make) => {
    const [roster = ''] = about.split(' ');
    field.write('etc/master.d/roster.conf', `${option}: ${make(field)}\n`);
    // Hosts that cannot be reached have an answer too: their ids are what counts.
    const [ours, theirs] = await both('--roster', roster, '--ssh-option', 'ConnectTimeout=1', 'web*', '-r', 'true');
    const ids = (result: CommandResult): string[] => byHost(result).map((text) => text.split(':', 1)[0]!);
    expect(ids(ours), ours.stderr).toEqual(ids(theirs));
    expect(ids(ours).length).toBeGreaterThan(0);
  });

  it('takes the same hosts from an inventory of Ansible as its own program names', async () => {
    const script = field.write(
      'inventory',
      '#!/bin/sh\necho \'{"front": {"hosts": ["web1", "web2"]}, "all": {"children": ["front"]}, "_meta": {"hostvars": {"web1": {"ansible_host": "127.0.0.1"}}}}\'\n',
    );
    chmodSync(script, 0o755);
    const ours = await field.run('--roster', 'ansible', '--roster-file', script, '-H');
    expect(ours.stdout).toContain('web1:\n        127.0.0.1');
  });
});
