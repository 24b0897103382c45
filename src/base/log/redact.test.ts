import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSecretName, redact, redactText } from './redact.ts';

describe('redact', () => {
  it('recognizes the names of secrets', () => {
    for (const name of [
      'password',
      'ssh_passwd',
      'key_pass',
      'token',
      'cluster_secret',
      'mysql.pass',
      'api_key',
      'aes',
    ]) {
      expect(isSecretName(name), name).toBe(true);
    }
    for (const name of ['minion', 'jid', 'pass_dir', 'token_expire', 'keysize', 'pki_dir', 'passed', 'compass']) {
      expect(isSecretName(name), name).toBe(false);
    }
  });

  it('masks keys, URLs and assignments in text', () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----';
    expect(redactText(`a ${key} b`)).toBe('a -----BEGIN RSA PRIVATE KEY----- ********** b');
    expect(redactText('cut -----BEGIN PRIVATE KEY-----\nMIIE')).not.toContain('MIIE');
    expect(redactText('ssh://me:pw@host/x password=abc, token: "t1"')).toBe(
      'ssh://me:**********@host/x password=**********, token: "**********"',
    );
  });

  it('copies deeply and does not change the original', () => {
    const load = { fun: 'x', arg: [{ password: 'p' }], map: new Map([['secret', 's']]), token: '' };
    expect(redact(load)).toEqual({
      fun: 'x',
      arg: [{ password: '**********' }],
      map: { secret: '**********' },
      token: '',
    });
    expect(load.arg[0]?.password).toBe('p');
  });

  it('masks secrets at every supported depth', () => {
    const wrap = (depth: number): unknown => (depth === 0 ? { password: 'needle' } : { a: [wrap(depth - 1)] });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), (depth) => {
        expect(JSON.stringify(redact(wrap(depth)))).not.toContain('needle');
      }),
    );
  });
});
