// Execution module `ssh`: authorized keys, known hosts, and the machine's own keys.

import { join } from 'node:path';
import { commandError, defineModule, fn, newDict, p, pyStr, type Value } from 'halite/sdk';
import { listDir, pathExists, readText } from 'halite/sdk/fs';
import { allUsers, userByName, which } from 'halite/sdk/system';
import { authFunctions } from './auth.ts';
import { knownHostFunctions } from './known-hosts.ts';

const names = (value: Value, fallback: string[]): string[] =>
  value === null ? fallback : Array.isArray(value) ? value.map(pyStr) : [pyStr(value)];

export default defineModule({
  name: 'ssh',
  doc: 'Authorized keys, known hosts, and the machine’s own keys.',
  available: () => which('ssh') !== null || 'The module requires the ssh binary.',
  reads: [
    'auth_keys',
    'check_key',
    'check_key_file',
    'get_known_host_entries',
    'recv_known_host_entries',
    'check_known_host',
    'host_keys',
    'user_keys',
    'key_is_encrypted',
  ],
  functions: {
    ...authFunctions,
    ...knownHostFunctions,
    host_keys: fn({
      doc: 'The keys of this machine.',
      examples: ["salt '*' ssh.host_keys", "salt '*' ssh.host_keys keydir=/etc/ssh private=False"],
      params: {
        keydir: p.string({ default: null }),
        private: p.bool({ default: true }),
        certs: p.bool({ default: true }),
      },
      run(args) {
        const folder = args.keydir ?? '/etc/ssh';
        const found = newDict();
        for (const file of listDir(folder)) {
          const match = /^ssh_host_(.+?)_key((-cert)?\.pub)?$/.exec(file);
          if (!match || (!match[2] && !args.private) || (match[3] && !args.certs)) continue;
          found[`${match[1]}${match[2] ?? ''}`] = (readText(join(folder, file)) ?? '').trim();
        }
        return found;
      },
    }),
    user_keys: fn({
      doc: 'The keys of users.',
      examples: ["salt '*' ssh.user_keys", "salt '*' ssh.user_keys user='[user1, user2]'"],
      params: {
        user: p.oneOf(['list', 'string'], { default: null }),
        pubfile: p.oneOf(['list', 'string'], { default: null }),
        prvfile: p.oneOf(['bool', 'list', 'string'], { default: null }),
      },
      run(args) {
        const found = newDict();
        const files = [
          ...names(args.pubfile, ['id_rsa.pub', 'id_dsa.pub', 'id_ecdsa.pub', 'id_ed25519.pub']),
          ...(args.prvfile === false ? [] : names(args.prvfile, ['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519'])),
        ];
        for (const name of names(
          args.user,
          allUsers().map((user) => user.name),
        )) {
          const home = userByName(name)?.home;
          if (home === undefined) continue;
          const keys = newDict();
          for (const file of files) {
            const path = file.includes('/')
              ? file.replaceAll('~', home).replaceAll('%h', home)
              : join(home, '.ssh', file);
            const text = readText(path);
            if (text !== undefined) keys[file] = text.trim();
          }
          if (Object.keys(keys).length > 0) found[name] = keys;
        }
        return found;
      },
    }),
    key_is_encrypted: fn({
      doc: 'Whether a private key needs a passphrase.',
      examples: ["salt '*' ssh.key_is_encrypted /root/id_rsa"],
      params: { key: p.path() },
      async run(args, ctx) {
        const text = readText(args.key);
        if (text === undefined)
          throw commandError(
            pathExists(args.key) ? `Permission denied reading from ${args.key}` : `${args.key} does not exist`,
          );
        if (!/BEGIN (?:\w+\s)*PRIVATE KEY/.test(text)) throw commandError(`${args.key} is not a private key`);
        if (text.includes('ENCRYPTED')) return true;
        // The newer format only has this inside the encoded key, which Salt does not read.
        if (!text.includes('BEGIN OPENSSH PRIVATE KEY')) return false;
        const { retcode } = await ctx.exec('ssh-keygen', ['-y', '-P', '', '-f', args.key]);
        return retcode !== 0;
      },
    }),
  },
});
