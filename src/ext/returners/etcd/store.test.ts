import { describe, expect, it } from 'vitest';
import { etcdV2 } from '../../shared/etcd/store.ts';

describe('keys of etcd 2', () => {
  it.each(['/salt/jobs/1/m1/../m2/return', '/salt/../other', '/salt/./x'])('never climb: %s', async (key) => {
    const store = etcdV2({
      ...{ host: '127.0.0.1', port: 1, username: null, password: null, tls: undefined, encodeValues: false },
      signal: new AbortController().signal,
    });
    await expect(store.put([[key, 'x']], 0)).rejects.toThrow(/etcd takes no key like/);
  });
});
