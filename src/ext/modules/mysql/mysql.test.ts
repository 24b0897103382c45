// The parts of the module `mysql` that need no server.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSince, quoteIdentifier, readDefaults } from '../../shared/mysql/connect.ts';
import { type Grant, grantStatement, tokenizeGrant } from './grants.ts';
import { splitStatements } from './query.ts';

const grant: Grant = { grant: 'select', database: 'shop.*', user: 'a', host: 'b', grantOption: false, escape: true };

describe('grants', () => {
  it.each([
    [grant, false, 'GRANT SELECT ON `shop`.* TO ?@?'],
    [
      { ...grant, database: 'my_shop.*', grantOption: true },
      false,
      'GRANT SELECT ON `my\\_shop`.* TO ?@? WITH GRANT OPTION',
    ],
    [{ ...grant, database: 'my_shop.t`x', grant: 'ALL' }, false, 'GRANT ALL PRIVILEGES ON `my_shop`.`t``x` TO ?@?'],
    [
      { ...grant, database: '*.*', grant: 'insert , process' },
      [{ SSL: true }, { ISSUER: "/CN='x" }],
      "GRANT INSERT, PROCESS ON *.* TO ?@? REQUIRE SSL AND ISSUER '/CN=x'",
    ],
    [{ ...grant, database: 'a.b', escape: false }, false, 'GRANT SELECT ON a.b TO ?@?'],
  ] as [Grant, never, string][])('%j', (wanted, ssl, sql) => {
    expect(grantStatement(wanted, ssl)).toBe(sql);
  });

  it('refuses unknown privileges', () => {
    expect(() => grantStatement({ ...grant, grant: 'select; drop' })).toThrow('Invalid grant');
  });

  it.each([
    [
      "GRANT SELECT, INSERT ON `db`.* TO 'a'@'localhost'",
      { user: 'a', host: 'localhost', grant: ['SELECT', 'INSERT'], database: '`db`.*' },
    ],
    [
      'GRANT SELECT (id, name), UPDATE ON `d b`.`t` TO `a b`@`%`',
      { user: '`a b`', host: '`%`', grant: ['SELECT', 'SELECT.id', 'SELECT.name', 'UPDATE'], database: '`d b`.`t`' },
    ],
    [
      'GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION',
      { user: '`root`', host: '`localhost`', grant: ['ALL PRIVILEGES'], database: '*.*' },
    ],
    ['nonsense', { user: '', host: '', grant: [], database: '' }],
  ])('are taken apart: %s', (sql, parts) => {
    expect(tokenizeGrant(sql)).toEqual(parts);
  });
});

describe('statements', () => {
  it('end at semicolons that are not quoted', () => {
    const text =
      "-- one; two\nSELECT ';', \"a;b\", `c;d` /* ; */; # three\nINSERT INTO t VALUES ('it''s', '\\';');;\n  UPDATE t SET a=1";
    expect(splitStatements(text)).toEqual([
      'SELECT \';\', "a;b", `c;d`',
      "INSERT INTO t VALUES ('it''s', '\\';')",
      'UPDATE t SET a=1',
    ]);
  });

  it('never fail or hang', () => {
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => Array.isArray(splitStatements(text))));
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => Array.isArray(tokenizeGrant(`GRANT ${text}`).grant)),
    );
  });
});

describe('connections', () => {
  it('take defaults from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'halite-cnf-'));
    try {
      const path = join(folder, 'my.cnf');
      writeFileSync(path, '[client]\nuser = root\npassword="a b#c"\n[mysqld]\nport=1\n# x\n[mine]\nsocket=/s\n');
      expect(readDefaults(path, 'mine')).toEqual({ user: 'root', password: 'a b#c', socket: '/s' });
      expect(readDefaults(join(folder, 'none'), 'client')).toEqual({});
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('quote names and compare versions', () => {
    expect([quoteIdentifier('a`b_c'), quoteIdentifier('a_b', true)]).toEqual(['`a``b_c`', '`a\\_b`']);
    expect([isSince('10.11.6-MariaDB', '10.5.2'), isSince('8.0.9', '8.0.11'), isSince('', '5')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
