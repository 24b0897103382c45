// The parts of the module `postgres` that need no server.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { storedPassword, verifyPassword } from '../../shared/postgres/passwords.ts';
import { parseAcl } from './privileges.ts';
import { ident, literal, parseCsv } from './psql.ts';

describe('CSV of psql', () => {
  it.each([
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\n"x,""y""",\n',
      [
        ['a', 'b'],
        ['x,"y"', ''],
      ],
    ],
    ['a\n"two\nlines"\n', [['a'], ['two\nlines']]],
    ['a\n""\n', [['a'], ['']]],
    ['', []],
  ])('%j', (text, rows) => {
    expect(parseCsv(text)).toEqual(rows);
  });

  it('reads back what is written', () => {
    const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const rows = fc.array(fc.array(fc.string(), { minLength: 2, maxLength: 3 }), { minLength: 1 });
    fc.assert(
      fc.property(rows, (table) => {
        const text = table.map((row) => `${row.map(quote).join(',')}\n`).join('');
        expect(parseCsv(text)).toEqual(table);
      }),
    );
  });
});

describe('access lists', () => {
  it('are parsed', () => {
    const found = parseAcl('{postgres=arwdDxt/postgres,jane=r*w/postgres,=Tc/postgres,"\\"my-role\\"=U/postgres"}');
    expect(Object.fromEntries(found.get('jane') ?? [])).toEqual({ SELECT: true, UPDATE: false });
    expect([...(found.get('public') ?? new Map()).keys()]).toEqual(['TEMPORARY', 'CONNECT']);
    expect([...found.keys()]).toEqual(['postgres', 'jane', 'public', 'my-role']);
    expect(parseAcl('').size).toBe(0);
  });
});

describe('passwords', () => {
  it.each(['md5', 'scram-sha-256', true, false])('are stored and known again: %s', (method) => {
    const stored = storedPassword('jane', 'secret', method) ?? '';
    expect(verifyPassword('jane', 'secret', stored, method)).toBe(true);
    expect(verifyPassword('jane', 'other', stored, method)).toBe(false);
    expect(storedPassword('jane', stored, method)).toBe(stored);
  });

  it('are as PostgreSQL makes them', () => {
    expect(storedPassword('jane', 'secret', 'md5')).toBe('md51a45c37817d8fe3da6d0c665f5f756ed');
    expect(storedPassword('jane', 'x', 'scram-sha-256')).toMatch(
      /^SCRAM-SHA-256\$4096:[\w+/]{22}==\$[\w+/]{43}=:[\w+/]{43}=$/,
    );
    expect(() => storedPassword('jane', 'x', 'rot13')).toThrow('Unknown password algorithm: rot13');
    expect(storedPassword('jane', null, 'md5')).toBeNull();
  });
});

it('names and texts are quoted', () => {
  expect([ident('a"b'), literal("it's")]).toEqual(['"a""b"', "'it''s'"]);
});
