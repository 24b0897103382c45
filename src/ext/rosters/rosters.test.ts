// The rosters that read files of other programs, and the ones that need no file.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dictOf, newDict, type Roster, type RosterContext, type RosterTarget, type Value } from 'halite/sdk';
import { matchesGlob } from 'halite/sdk/text';
import { afterAll, describe, expect, it } from 'vitest';
import { execProgram } from '../../engine/exec/exec.ts';
import { expandNodes } from '../shared/rosters/node-set.ts';
import ansible from './ansible/index.ts';
import cache from './cache.ts';
import cloud from './cloud.ts';
import clustershell from './clustershell.ts';
import dir from './dir.ts';
import range from './range.ts';
import scan from './scan.ts';
import sshconfig from './sshconfig.ts';
import sshknownhosts from './sshknownhosts.ts';
import terraform from './terraform.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-rosters-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string, mode = 0o600): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
};
const warnings: string[] = [];

async function ask(
  roster: Roster,
  opts: Record<string, Value>,
  target: RosterTarget = { tgt: '*', kind: 'glob' },
  more: Partial<RosterContext> = {},
): Promise<Value> {
  const signal = new AbortController().signal;
  return roster.targets(target, {
    opts,
    log: { debug() {}, info() {}, warn: (text) => warnings.push(text), error() {} },
    signal,
    rosterFile: () => String(opts['roster_file']),
    render: async () => newDict(),
    matching: (ids) => ids.filter((id) => matchesGlob(id, String(target.tgt))),
    exec: (program, args, options = {}) => execProgram(program, args, options, signal),
    knownMinions: async () => new Map(),
    secret: async () => null,
    ...more,
  });
}

describe('rosters', () => {
  it('read inventories of Ansible in every form alike', async () => {
    const ini = file(
      'hosts.ini',
      `alone ansible_host=192.0.2.9 # why\n[web]\nweb[01:02].x ansible_port=2222 note="two words"\n[web:vars]\nansible_user=deploy\n[all:vars]\nansible_user=nobody\n[front:children]\nweb\n`,
    );
    const yaml = file(
      'hosts.yml',
      'all:\n  vars: {ansible_user: nobody}\n  hosts: {alone: {ansible_host: 192.0.2.9}}\n  children:\n    front:\n      children:\n        web:\n          vars: {ansible_user: deploy}\n          hosts:\n            web01.x: {ansible_port: 2222, note: two words}\n            web02.x: {ansible_port: 2222, note: two words}\n',
    );
    const listing = JSON.stringify({
      all: { children: ['front'], hosts: ['alone'], vars: { ansible_user: 'nobody' } },
      front: { children: ['web'] },
      web: { hosts: ['web01.x', 'web02.x'], vars: { ansible_user: 'deploy' } },
      _meta: {
        hostvars: {
          alone: { ansible_host: '192.0.2.9' },
          'web01.x': { ansible_port: 2222, note: 'two words' },
          'web02.x': { ansible_port: 2222, note: 'two words' },
        },
      },
    });
    const script = file('hosts.sh', `#!/bin/sh\n[ "$1" = --list ] && cat <<'X'\n${listing}\nX\n`, 0o700);
    const web = (name: string) => ({ host: name, user: 'deploy', port: 2222, minion_opts: { note: 'two words' } });
    const alone = { host: '192.0.2.9', user: 'nobody', minion_opts: {} };
    for (const roster_file of [ini, yaml, script, file('hosts.json', listing)]) {
      expect(await ask(ansible, { roster_file }), roster_file).toEqual({
        alone,
        'web01.x': web('web01.x'),
        'web02.x': web('web02.x'),
      });
      expect(await ask(ansible, { roster_file }, { tgt: 'front', kind: 'nodegroup' }), roster_file).toEqual({
        'web01.x': web('web01.x'),
        'web02.x': web('web02.x'),
      });
    }
    const circle = file('circle.ini', '[a:children]\nb\n[b:children]\na\nc\n[c]\none\n[b:vars]\nport=1\n');
    expect(await ask(ansible, { roster_file: circle }, { tgt: 'a', kind: 'nodegroup' })).toEqual({
      one: { host: 'one', minion_opts: { port: 1 } },
    });
    const many = file('many.ini', 'a[1:300]b[1:300]\n');
    await expect(ask(ansible, { roster_file: many })).rejects.toThrow('stands for too many hosts');
    const failing = file('failing.sh', '#!/bin/sh\necho sorry >&2; exit 3\n', 0o700);
    await expect(ask(ansible, { roster_file: failing })).rejects.toThrow('--list ended with 3: sorry');
    await expect(ask(ansible, { roster_file: file('bad.ini', '[web:what]\n') })).rejects.toThrow('line 1');
  });

  it('read state files of Terraform, new and old', async () => {
    const attributes = {
      salt_id: 'web',
      host: '192.0.2.1',
      user: 'admin',
      port: 22,
      sudo: true,
      timeout: null,
      unknown: 1,
    };
    const now = file(
      'new.tfstate',
      JSON.stringify({ resources: [{ type: 'salt_host', instances: [{ attributes }, {}] }, { type: 'other' }] }),
    );
    const old = file(
      'old.tfstate',
      JSON.stringify({
        modules: [
          {
            resources: {
              'salt_host.web': {
                type: 'salt_host',
                primary: { attributes: { ...attributes, port: '22', sudo: 'true' } },
              },
            },
          },
        ],
      }),
    );
    for (const roster_file of [now, old])
      expect(await ask(terraform, { roster_file })).toEqual({
        web: { host: '192.0.2.1', user: 'admin', port: 22, sudo: true },
      });
    await expect(ask(terraform, { roster_file: `${folder}/none.tfstate` })).rejects.toThrow(
      "Can't find terraform state file",
    );
    await expect(ask(terraform, { roster_file: now.replace('.tfstate', '') })).rejects.toThrow('.tfstate');
  });

  it('read what OpenSSH has', async () => {
    const config = file(
      'ssh_config',
      'Host a b\n  HostName 192.0.2.5\n  User one\n  Port 2200\nHost *\n  User all\nHost a*\n  IdentityFile ~/.ssh/a\nMatch host x\n  User no\n',
    );
    expect(await ask(sshconfig, { ssh_config_file: config })).toEqual({
      a: { user: 'all', port: '2200', host: 'a', priv: '~/.ssh/a' },
      b: { user: 'all', port: '2200', host: 'b' },
    });
    const known = file(
      'known_hosts',
      '# x\n|1|abc|def ssh-rsa AAAA\n[db]:2222,10.0.0.1 ssh-rsa AAAA\n@revoked z ssh-rsa A\nbad\n',
    );
    expect(await ask(sshknownhosts, { ssh_known_hosts_file: known })).toEqual({
      '[db]:2222': { host: 'db', port: 2222 },
      '10.0.0.1': { host: '10.0.0.1' },
    });
    expect(warnings).toContain('names that are stored as hashes are left out');
  });

  it('expand ranges of ClusterShell, within limits', () => {
    expect(expandNodes('web[1-3,7],db[01-02]x[a]'.replace('[a]', ''))).toEqual([
      'web1',
      'web2',
      'web3',
      'web7',
      'db01x',
      'db02x',
    ]);
    expect(expandNodes('r[1-2]n[08-10/2], solo')).toEqual(['r1n08', 'r1n10', 'r2n08', 'r2n10', 'solo']);
    const many = ['a[1-40000,50000-90000]', 'a[1-40000],b[1-40000]', 'a[1-99999999]', 'a[1-300]b[1-300]'];
    for (const wrong of ['a[', 'a[1-', 'a[x]', 'a[3-1]', ...many])
      expect(() => expandNodes(wrong), wrong).toThrow(/^a\[/);
  });

  it('find open ports, and leave out what is closed', async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const opts = { ssh_scan_ports: `1,${port}`, ssh_scan_timeout: 5 };
    try {
      expect(await ask(scan, opts, { tgt: '127.0.0.1', kind: 'glob' })).toEqual({
        '127.0.0.1': { host: '127.0.0.1', port },
      });
      expect(await ask(clustershell, opts, { tgt: 'localhost', kind: 'glob' })).toEqual({
        localhost: { host: 'localhost', port },
      });
    } finally {
      server.close();
    }
    expect(await ask(scan, opts, { tgt: '127.0.0.1', kind: 'glob' })).toEqual({});
    await expect(ask(scan, opts, { tgt: '10.0.0.0/8', kind: 'glob' })).rejects.toThrow('more than 65536 addresses');
    const halves = ['10.0.0.0/17', '10.1.0.0/17', '10.2.0.0/17'];
    await expect(ask(scan, opts, { tgt: halves, kind: 'list' })).rejects.toThrow('more than 65536 addresses');
    await expect(ask(scan, { ssh_scan_ports: '22,x' }, { tgt: '127.0.0.1', kind: 'glob' })).rejects.toThrow(
      'ssh_scan_ports',
    );
  });

  it('choose addresses of known minions as roster_order says', async () => {
    const grains = dictOf([
      ['ipv4', ['127.0.0.1', '192.168.1.5', '203.0.113.9', '8.8.4.4']],
      ['ipv6', ['::1', 'fe80::1']],
      ['fqdn', 'web.example.com'],
    ]);
    const known = new Map([
      ['web', { grains, pillar: dictOf([['net', dictOf([['addr', '10.9.9.9']])]]), mine: newDict() }],
    ]);
    const host = async (order?: Value): Promise<Value> =>
      ask(cache, order === undefined ? {} : { roster_order: dictOf([['host', order]]) }, undefined, {
        knownMinions: async () => known,
      });
    expect(await host()).toEqual({ web: { host: '192.168.1.5' } });
    expect(await host(['ipv4-public'])).toEqual({ web: { host: '8.8.4.4' } });
    expect(await host('203.0.113.0/24')).toEqual({ web: { host: '203.0.113.9' } });
    expect(await host([dictOf([['grain', 'fqdn']])])).toEqual({ web: { host: 'web.example.com' } });
    expect(await host([dictOf([['pillar', 'net:addr']])])).toEqual({ web: { host: '10.9.9.9' } });
    expect(await host('id')).toEqual({ web: { host: 'web' } });
    expect(await host(['10.255.0.0/16'])).toEqual({});
    await expect(host('ipv4-strange')).rejects.toThrow('Invalid filter');
  });

  it('skip a file that does not render', async () => {
    const roster_dir = mkdtempSync(join(folder, 'dir-'));
    for (const name of ['good', 'bad']) writeFileSync(join(roster_dir, name), '');
    const render = async (path: string): Promise<Value> => {
      if (path.endsWith('bad')) throw new Error('broken');
      return dictOf([['user', 'x']]);
    };
    expect(await ask(dir, { roster_dir, roster_domain: 'example.com' }, undefined, { render })).toEqual({
      good: { user: 'x', host: 'good.example.com' },
    });
  });

  it.each([range, cloud])('refuses $name by name', async (roster) => {
    await expect((async () => ask(roster, {}))()).rejects.toThrow(`The roster ${roster.name} is not available`);
  });
});
