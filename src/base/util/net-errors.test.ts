// Why a connection failed.
import { describe, expect, it } from 'vitest';
import { netReason } from './net-errors.ts';

const failure = (code: string | undefined, message = ''): Error => Object.assign(new Error(message), { code });

describe('the reason of a failed connection', () => {
  it.each([
    [failure('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:9'), '[Errno 111] Connection refused'],
    [new AggregateError([failure('ECONNREFUSED')]), '[Errno 111] Connection refused'],
    [failure('ENOTFOUND', 'getaddrinfo ENOTFOUND x'), '[Errno -2] Name or service not known'],
    [
      failure('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed'),
      '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed',
    ],
    [failure('EWHATEVER', 'something else'), 'something else'],
    [failure('EWHATEVER'), 'EWHATEVER'],
    ['a text', 'a text'],
  ])('%s is %s', (error, text) => {
    expect(netReason(error)).toBe(text);
  });
});
