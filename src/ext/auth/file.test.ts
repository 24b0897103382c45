// Passwords in files: text, and hashes as htpasswd and crypt(3) make them.
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindArguments } from '../../engine/exec/bind.ts';
import type { AuthContext, AuthSession, Value } from '../../extend/sdk/index.ts';
import file from './file.ts';
import { matchesHtpasswd } from './shared/htpasswd.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-auth-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const warnings: string[] = [];
const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: (text: string) => void warnings.push(text), error: quiet };
const context: AuthContext = { opts: {}, log, exec: () => Promise.reject(new Error('no programs')) };
async function opened(content: string, settings: Record<string, Value> = {}, mode = 0o600): Promise<AuthSession> {
  const filename = join(folder, 'users');
  writeFileSync(filename, content);
  chmodSync(filename, mode);
  return file.open(bindArguments('file', file.settings, [], { filename, ...settings }) as never, context);
}
const accepts = async (session: AuthSession, username: string, password: string): Promise<boolean> =>
  (await session.check({ username, password })) !== undefined;

describe('a text file', () => {
  it('has plain passwords', async () => {
    const session = await opened('# names\nfred:secret\nfred:second\nempty:\n:nameless\nann:a:b\r\n');
    for (const [name, password, good] of [
      ['fred', 'secret', true],
      ['fred', 'second', false],
      ['fred', 'Secret', false],
      ['fred', '', false],
      ['FRED', 'secret', false],
      ['empty', '', false],
      ['empty', '\0', false],
      ['nobody', '', false],
      ['nobody', '\0', false],
      ['', 'nameless', false],
      ['ann', 'a', true],
      ['ann:a', 'b', false],
      ['# names', '', false],
    ] as const)
      expect(await accepts(session, name, password), `${name} ${password}`).toBe(good);
  });

  it('has hashes, and fields in another order', async () => {
    const sha1 = 'E5E9FA1BA31ECD1AE84F75CAAA474F3A663F05F4';
    const session = await opened(`x|${sha1}|fred\n`, {
      hashtype: 'sha1',
      field_separator: '|',
      username_field: 3,
      password_field: 2,
    });
    expect(await accepts(session, 'fred', 'secret')).toBe(true);
    expect(await accepts(session, 'fred', sha1)).toBe(false);
  });

  it.each<[Record<string, Value>, RegExp]>([
    [{ filetype: 'csv' }, /\^filetype/],
    [{ hashtype: 'crc32' }, /\^hashtype/],
    [{ filetype: 'htdigest' }, /\^realm/],
    [{ filename: '/nowhere/at/all' }, /ENOENT|No such file/],
    [{ username_field: 0 }, /from 1/],
    [{ file: 'x' }, /unexpected keyword/],
  ])('refuses the settings %j', async (settings, why) => {
    await expect(opened('', settings)).rejects.toThrow(why);
  });

  it('warns when others can read it', async () => {
    await opened('', {}, 0o644);
    expect(warnings.at(-1)).toMatch(/by others/);
  });
});

it('reads files of htdigest', async () => {
  const digest = createHash('md5').update('fred:salt:secret').digest('hex');
  const good = await opened(`fred:salt:${digest}\n`, { filetype: 'htdigest', realm: 'salt' });
  expect(await accepts(good, 'fred', 'secret')).toBe(true);
  expect(await accepts(good, 'fred', 'wrong')).toBe(false);
  expect(await accepts(good, 'fred:salt', 'secret')).toBe(false);
});

describe('hashes of htpasswd', () => {
  // Made with `openssl passwd` and crypt(3).
  const known: [string, string][] = [
    ['$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/', 'secret'],
    ['$1$xyz$Qia9Wq6FxQkYcwNWMk/RM0', 'secret'],
    ['$5$saltstring$C3o4O1TC6aRHF4FI.QSZMXtHbaj2gSXr4sUc/3NcUi.', 'secret'],
    [
      '$6$0123456789abcdef$8CGkKDSyVpVlVNcs5PssRw/Tb8EgfecuA6D/zsRQFumJaU.s8KgTWWc2HfgkB7h2n1qIKiJFeSyUFrwvhILXy.',
      'secret',
    ],
    [
      '$6$rounds=1234$abc$O3ZOa0XiEWN0HewyM3s5mh16Zs29hmX3DWLNjonHRN//nTlr0lwJJMRhAJl66.NpDwazhmHN3f756IRDgrSzs.',
      'secret',
    ],
    ['$5$rounds=2000$abcdefghijklmnop$kDESbnk6kuB4ziTjp5A1VqS6FVaoWT.tbGYQNkV1ZFA', 'secret'],
    ['$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a', 'secret'],
    ['$apr1$abcdefgh$kHnbLXZ5b9l.q8vaL4xVC0', 'a longer password with ümlauts and 1234567890 1234567890'],
    ['$1$xyz$x5L1FbwvPVl00EKIB9knY.', 'a longer password with ümlauts and 1234567890 1234567890'],
    [
      '$5$saltstring$LI4UReSUMHuWPL3jP2HK/VOs76KAtB235xyMZCdYva5',
      'a longer password with ümlauts and 1234567890 1234567890',
    ],
    [
      '$6$0123456789abcdef$C73jJVj2EVr4Q7A.5fi5qicHab4RwcUmRKZpixxC9xtGI/qCSeZQ9n3L8dxVE8lVIiFIueAeUIWPapXccgD4h1',
      'a longer password with ümlauts and 1234567890 1234567890',
    ],
    [
      '$6$rounds=1234$abc$3NieX9Mg5lZXMrTp4rvYW9gYGU1VpEkCJcC/RVRxOrGMg7XUNgE7Z50TmipQd63Eqg8YypA9zddslWo.mlbIj.',
      'a longer password with ümlauts and 1234567890 1234567890',
    ],
    [
      '$5$rounds=2000$abcdefghijklmnop$LvljKil2TWzjrOY9eL59j8n.wkKuSHsuFrjOL05jqlC',
      'a longer password with ümlauts and 1234567890 1234567890',
    ],
    [
      '$2b$05$abcdefghijklmnopqrstuu8XvPnkrZlnJYw5IbDqIxGl8114jGP1W',
      'a longer password with ümlauts and 1234567890 1234567890',
    ],
    ['{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=', 'secret'],
  ];
  it.each(known)('%s', async (hash, password) => {
    expect(await matchesHtpasswd(password, hash)).toBe(true);
    expect(await matchesHtpasswd(`${password}x`, hash)).toBe(false);
    expect(await matchesHtpasswd('', hash)).toBe(false);
    expect(await matchesHtpasswd(hash, hash)).toBe(false);
  });

  it.each(['', '!', '*', 'secret', 'rqXexS6ZhobKA', '$9$x$y', '$6$', '$6$rounds=999999999$x$y', '{SHA}', '$2y$'])(
    'refuses every password for %j',
    async (hash) => {
      for (const password of ['', '!', hash, 'secret', 'rasmuslerdorf'])
        expect(await matchesHtpasswd(password, hash), password).toBe(false);
      expect(await matchesHtpasswd('', undefined)).toBe(false);
      expect(await matchesHtpasswd('!', undefined)).toBe(false);
    },
  );
});
