// Entries of rosters: what cannot be the host, the user or a path of a command line is refused.
import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../base/codec/value.ts';
import { sshArguments } from './client-options.ts';
import { readTarget, type TargetDefaults } from './target.ts';

const defaults: TargetDefaults = {
  ...{ user: 'root', port: 22, passwd: '', priv: '/key', privPasswd: '', sudo: false, sudoUser: '' },
  ...{ timeout: 60, identitiesOnly: false, sshOptions: [], forwards: [], thinDir: '' },
};
const client = { ignoreHostKeys: false, noHostKeys: false, knownHosts: '', configFile: '', keepAlive: undefined };
const read = (entry: Readonly<Record<string, Value>>) => readTarget('web', newDict(Object.entries(entry)), defaults);

describe('an entry of a roster', () => {
  it.each(['-oProxyCommand=id', 'a b', 'a;id', '$(id)', 'a`id`', 'a|id', "a'", 'a"', 'a&b', 'a\nb', 'a{1,2}', 'a\\b'])(
    'has no host %j',
    (host) => {
      expect(() => read({ host })).toThrow(/The roster entry of web has/);
    },
  );

  it.each(['web.example.com', '192.0.2.1', '2001:db8::1', 'fe80::1%eth0', '[2001:db8::1]', 'büro', 'a_b'])(
    'may have the host %j',
    (host) => {
      expect(read({ host }).host).toBe(host.replace(/[[\]]/g, ''));
    },
  );

  it.each([
    ['port', 0],
    ['port', '22 -oProxyCommand=id'],
    ['user', 'root\n'],
    ['priv', '/key\0'],
    ['thin_dir', '/x\r'],
    ['ssh_options', ['A=b\nProxyCommand=id']],
    ['winrm', true],
  ])('has no %s %j', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(/The roster entry of web has/);
  });

  it('gives every value to ssh as one word, and no password', () => {
    const entry = {
      host: 'h',
      user: '-x',
      priv: '-oA=b',
      passwd: 'secret',
      priv_passwd: 'phrase',
      sudo_passwd: 'sudo',
    };
    const args = sshArguments(read(entry), client, { tty: false }, 'true');
    expect(args.slice(-3)).toEqual(['--', 'h', 'true']);
    expect(args[args.indexOf('-x') - 1]).toBe('-l');
    expect(args[args.indexOf('-oA=b') - 1]).toBe('-i');
    expect(args.join(' ')).not.toMatch(/secret|phrase|sudo/);
  });
});
