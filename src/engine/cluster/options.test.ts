import { describe, expect, it } from 'vitest';
import { dictOf, type Value } from '../../base/codec/value.ts';
import { readClusterOptions } from './options.ts';

const servers = ['tls://n1:4222', 'tls://n2:4222'];
const read = (more: Record<string, Value>) =>
  readClusterOptions(dictOf(Object.entries({ name: 'prod', servers, ...more })));
const refused = (message: RegExp, hint = /./) =>
  expect.objectContaining({
    code: 'config.value',
    message: expect.stringMatching(message),
    hint: expect.stringMatching(hint),
  });

describe('the option cluster', () => {
  it('is absent for a master without others', () => {
    expect(readClusterOptions(null)).toBeUndefined();
    expect(readClusterOptions(undefined)).toBeUndefined();
  });

  it('has defaults for all but name and servers', () => {
    expect(read({})).toEqual({
      ...{ name: 'prod', servers, insecure: false, managed: false, listen: '127.0.0.1:4222', peers: [], tls: {} },
      ...{ ack: 'both', ackWaitMs: 2000, replicas: 3, logMb: 4096 },
    });
    expect(read({ nats: 'managed', servers: null, listen: '127.0.0.2:4333' })?.servers).toEqual([
      'nats://127.0.0.2:4333',
    ]);
  });

  it.each<[Record<string, Value>, RegExp, RegExp?]>([
    [{ severs: [] }, /cluster\.severs is not known/, /'servers'/],
    [{ serve: 'pinned' }, /cluster\.serve cannot be pinned yet/, /each member serves what it has/],
    [{ xyzzy: 1 }, /cluster\.xyzzy is not known/, /Known ones: name, servers/],
    [{ name: 'Prod' }, /cluster\.name is needed/],
    [{ name: 5 }, /cluster\.name is not a text/, undefined],
    [{ servers: [] }, /cluster\.servers is needed/],
    [{ servers: 'tls://n1' }, /cluster\.servers is not a list/, undefined],
    [{ servers: ['http://n1:1'] }, /no address: http/, /tls:/],
    [{ servers: ['nats://n1:4222'] }, /without TLS: nats:\/\/n1:4222/, /insecure: true/],
    [{ ack: 'bth' }, /no value 'bth'/, /'both'/],
    [{ ack_wait: -1 }, /cluster\.ack_wait is not a number from 0 to 60/, undefined],
    [{ replicas: 2.5 }, /cluster\.replicas is not a whole number/, undefined],
    [{ insecure: 'yes' }, /neither true nor false/, undefined],
    [{ creds: '/a', nkey: '/b' }, /both set/],
    [{ cert: '/a' }, /belong together/, undefined],
    [{ listen: 'nowhere' }, /host:port: nowhere/, undefined],
    [{ peers: ['n1'] }, /peers has an entry that is no host:port: n1/, undefined],
  ])('names what is wrong with %j', (more, message, hint) => {
    const expected = hint
      ? refused(message, hint)
      : expect.objectContaining({ message: expect.stringMatching(message) });
    expect(() => read(more)).toThrow(expected);
  });

  it('allows plain connections to this machine, and to others when told so', () => {
    for (const server of ['nats://127.0.0.1:4222', 'nats://localhost:4222', 'nats://[::1]:4222']) {
      expect(read({ servers: [server] })?.servers).toEqual([server]);
    }
    expect(() => read({ servers: ['nats://127.0.0.1.example.org:4222'] })).toThrow(/without TLS/);
    expect(read({ servers: ['nats://n1:4222'], insecure: true })?.insecure).toBe(true);
  });
});
