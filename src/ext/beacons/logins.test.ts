// Beacons about records of the system: logins as the C library writes them, certificates, journal entries.
import { X509Certificate } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import certInfo from './cert_info.ts';
import journald, { journalEntry, matching } from './journald.ts';
import { describeCertificate } from './shared/certificate.ts';
import { loginProblem, openLogins } from './shared/logins.ts';
import { dict, opened, plainJson, testContext, until } from './shared/testing.ts';
import { actions } from './wtmp.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-logins-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A record as `struct utmp` of 64-bit Linux lays it out. */
function record(type: number, user: string, line = 'pts/1', host = '10.0.0.9'): Buffer {
  const bytes = Buffer.alloc(384);
  bytes.writeInt16LE(type, 0);
  bytes.writeInt32LE(4321, 4);
  bytes.write(line, 8);
  bytes.write('ts/1', 40);
  bytes.write(user, 44);
  bytes.write(host, 76);
  bytes.writeInt32LE(1_700_000_000, 340);
  return bytes;
}

describe('logins', () => {
  it('are reported with user and kind, also when only half a record existed at the last check', async () => {
    const path = join(root, 'wtmp');
    writeFileSync(path, record(7, 'before'));
    const session = await openLogins(dict({}), testContext(), { path, complete: actions(dict({})) });
    expect(await session.read()).toEqual([]);
    const both = Buffer.concat([record(7, 'root'), record(8, '')]);
    appendFileSync(path, both.subarray(0, 400));
    expect(plainJson(await session.read())).toEqual([
      {
        ...{ type: 7, PID: 4321, line: 'pts/1', inittab: 'ts/1', user: 'root', hostname: '10.0.0.9', exit_status: 0 },
        ...{ session: 0, time: 0, addr: 1_700_000_000, action: 'login' },
      },
    ]);
    appendFileSync(path, both.subarray(400));
    expect((await session.read()).map(({ action, user }) => [action, user])).toEqual([['logout', 'root']]);
  });

  it('are selected by user, group and time of day', async () => {
    const path = join(root, 'btmp');
    writeFileSync(path, '');
    const always = { time_range: { start: '12:00am', end: '11:59:59pm' } };
    const never = { time_range: { start: '2001-01-01 8am', end: '2001-01-01 9am' } };
    const settings = { users: { root: always, guest: never }, groups: { wheel: {} }, defaults: always };
    const ctx = testContext({ 'group.info': () => dict({ members: ['anna'] }) });
    const session = await openLogins(dict(settings), ctx, { path });
    for (const user of ['root', 'guest', 'anna', 'eve']) appendFileSync(path, record(6, user));
    expect((await session.read()).map(({ user }) => user)).toEqual(['root', 'anna']);
    expect(loginProblem('btmp', dict(settings))).toBeUndefined();
    expect(loginProblem('btmp', dict({ users: [] }))).toBe('User configuration for btmp beacon must be a dictionary.');
    expect(loginProblem('btmp', dict({ groups: { a: { time_range: { start: '1am' } } } }))).toContain('start & end');
    expect(loginProblem('btmp', dict({ defaults: { time_range: 3 } }))).toContain('must be a dictionary');
  });
});

// Made for this test; its private key does not exist any more.
const pem = `-----BEGIN CERTIFICATE-----
MIICxzCCAm6gAwIBAgICEjQwCgYIKoZIzj0EAwIwWDELMAkGA1UEBhMCREUxETAP
BgNVBAoMCFNvbWUgT3JnMRgwFgYDVQQDDA93d3cuZXhhbXBsZS5vcmcxHDAaBgkq
hkiG9w0BCQEWDWFAZXhhbXBsZS5vcmcwHhcNMjYxMTE1MTQ0MjExWhcNMzYxMTEy
MTQ0MjExWjBYMQswCQYDVQQGEwJERTERMA8GA1UECgwIU29tZSBPcmcxGDAWBgNV
BAMMD3d3dy5leGFtcGxlLm9yZzEcMBoGCSqGSIb3DQEJARYNYUBleGFtcGxlLm9y
ZzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJEQ9ek4Yu0a/yguLQ4oRAfEcQ3K
ruZ4wq5XB63AeinADLJ6mCHPoE4yf0tCrraKluEfBj8UK1/KkHsOwJAvEbqjggEm
MIIBIjAdBgNVHQ4EFgQUcF3o7DUK7BVDtRC/XBkJA/fHZowwHwYDVR0jBBgwFoAU
cF3o7DUK7BVDtRC/XBkJA/fHZowwDwYDVR0TAQH/BAUwAwEB/zBFBgNVHREEPjA8
gg93d3cuZXhhbXBsZS5vcmeHBAoBAgOBDXhAZXhhbXBsZS5vcmeGFGh0dHBzOi8v
ZXhhbXBsZS5vcmcvMAsGA1UdDwQEAwIChDAdBgNVHSUEFjAUBggrBgEFBQcDAQYI
KwYBBQUHAwIwMwYIKwYBBQUHAQEEJzAlMCMGCCsGAQUFBzABhhdodHRwOi8vb2Nz
cC5leGFtcGxlLm9yZzAnBgNVHR8EIDAeMBygGqAYhhZodHRwOi8vZXhhbXBsZS5v
cmcvY3JsMAoGCCqGSM49BAMCA0cAMEQCIFj29EUKSbIWIy9+F/O3mEE9zE04NVm2
GK3eqT3ywtVgAiBwSgKrZvYjJZQ8MLJmcp8DPTW+WxrqFo5Zk9R56LTfEQ==
-----END CERTIFICATE-----`;

describe('cert_info', () => {
  it('describes certificates with the names of OpenSSL', () => {
    const shown = plainJson(describeCertificate('/x', new X509Certificate(pem), new Date('2026-11-16')));
    expect(shown).toEqual({
      cert_path: '/x',
      issuer: 'C="DE",O="Some Org",CN="www.example.org",emailAddress="a@example.org"',
      issuer_dict: { C: 'DE', O: 'Some Org', CN: 'www.example.org', emailAddress: 'a@example.org' },
      notAfter_raw: '20361112144211Z',
      notAfter: '2036-11-12 14:42:11Z',
      notBefore_raw: '20261115144211Z',
      notBefore: '2026-11-15 14:42:11Z',
      serial_number: 4660,
      signature_algorithm: 'ecdsa-with-SHA256',
      subject: 'C="DE",O="Some Org",CN="www.example.org",emailAddress="a@example.org"',
      subject_dict: { C: 'DE', O: 'Some Org', CN: 'www.example.org', emailAddress: 'a@example.org' },
      version: 2,
      extensions: [
        { ext_name: 'subjectKeyIdentifier', ext_data: '70:5D:E8:EC:35:0A:EC:15:43:B5:10:BF:5C:19:09:03:F7:C7:66:8C' },
        { ext_name: 'authorityKeyIdentifier', ext_data: '70:5D:E8:EC:35:0A:EC:15:43:B5:10:BF:5C:19:09:03:F7:C7:66:8C' },
        { ext_name: 'basicConstraints', ext_data: 'CA:TRUE' },
        {
          ext_name: 'subjectAltName',
          ext_data: 'DNS:www.example.org, IP Address:10.1.2.3, email:x@example.org, URI:https://example.org/',
        },
        { ext_name: 'keyUsage', ext_data: 'Digital Signature, Certificate Sign' },
        { ext_name: 'extendedKeyUsage', ext_data: 'TLS Web Server Authentication, TLS Web Client Authentication' },
        { ext_name: 'authorityInfoAccess', ext_data: 'OCSP - URI:http://ocsp.example.org' },
        { ext_name: 'crlDistributionPoints', ext_data: 'Full Name:\n  URI:http://example.org/crl\n' },
      ],
      has_expired: false,
    });
  });

  it('reports those that expire soon, and logs unreadable files once', async () => {
    const file = join(root, 'c.pem');
    writeFileSync(file, pem);
    const ctx = testContext();
    const always = await opened(certInfo, { files: [{ [file]: { notify_days: -1 } }, join(root, 'none')] }, ctx);
    expect(await always.read()).toMatchObject([{ certificates: [{ cert_path: file }] }]);
    await always.read();
    expect(ctx.said).toEqual([expect.stringContaining(join(root, 'none'))]);
    const far = await opened(certInfo, { files: [file], notify_days: -1_000_000 });
    expect(await far.read()).toHaveLength(1);
    await expect(opened(certInfo, {})).rejects.toThrow('must contain files option');
  });
});

describe('journald', () => {
  it('reports entries with the given fields', () => {
    const entry = journalEntry('{"SYSLOG_IDENTIFIER":"sshd","PRIORITY":"6","MESSAGE":"hello","_PID":"12"}');
    const settings = dict({
      services: { sshd: { SYSLOG_IDENTIFIER: 'sshd', PRIORITY: 6 }, cron: { SYSLOG_IDENTIFIER: 'cron' } },
    });
    expect(matching(settings, entry ?? {})).toEqual([
      { SYSLOG_IDENTIFIER: 'sshd', PRIORITY: 6, MESSAGE: 'hello', _PID: 12, tag: 'sshd' },
    ]);
    expect(journalEntry('-- cursor')).toBeUndefined();
  });

  it('follows the journal, and reports when that ends', async () => {
    const line = '{"SYSLOG_IDENTIFIER":"sshd","MESSAGE":"hello"}';
    writeFileSync(join(root, 'journalctl'), `#!/bin/sh\necho '${line}'\necho broken >&2\nexit 3\n`, { mode: 0o755 });
    const path = process.env['PATH'];
    process.env['PATH'] = `${root}:${path}`;
    try {
      const session = await opened(journald, { services: { sshd: { SYSLOG_IDENTIFIER: 'sshd' } } });
      expect(await until(session, (told) => told.length > 0)).toMatchObject([{ tag: 'sshd', MESSAGE: 'hello' }]);
      await expect(until(session, () => false)).rejects.toThrow('journalctl ended with status 3: broken');
      await session.close?.();
    } finally {
      process.env['PATH'] = path;
    }
  });
});
