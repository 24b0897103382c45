// Secret store `vault`: `sdb://profile/secret/path/key` is the value `key` of the secret `secret/path`.
import { defineSdb, dictGet, fieldOf, isDict, newDict, type Value } from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';
import { ask, kvPaths } from '../shared/vault/client.ts';
import { vaultHost } from '../shared/vault/hosts.ts';
import { answerField, checkStatus } from '../shared/vault/request.ts';

/** `path/key`, or `path?key`. */
function split(address: string): [path: string, key: string] {
  const at = address.includes('?') ? address.indexOf('?') : address.lastIndexOf('/');
  return at < 0 ? [address, ''] : [address.slice(0, at), address.slice(at + 1)];
}

export default defineSdb({
  name: 'vault',
  doc: 'Secrets of HashiCorp Vault: `sdb://profile/secret/path/key` or `sdb://profile/secret/path?key`.',
  async get(address, _profile, ctx): Promise<Value> {
    const [path, key] = split(address);
    const host = vaultHost(ctx);
    const paths = await kvPaths(host, path);
    let answer = await ask(host, { path: paths.data });
    if (answer.status === 404 && paths.v2) answer = await ask(host, { path: `${paths.data}/${key}` });
    if (answer.status === 404) return null;
    checkStatus(answer);
    const data = answerField(answer, 'data') ?? null;
    const inner = paths.v2 && isDict(data) ? (dictGet(data, 'data') ?? null) : data;
    const found = fieldOf(inner, key);
    return found ?? (paths.v2 ? inner : null);
  },
  async set(address, value, _profile, ctx): Promise<Value> {
    const [path, key] = split(address);
    const host = vaultHost(ctx);
    const paths = await kvPaths(host, path);
    const data = newDict([[key, value]]);
    const answer = await ask(host, {
      method: 'POST',
      path: paths.data,
      json: dumpJson(paths.v2 ? newDict([['data', data]]) : data),
    });
    checkStatus(answer);
    return true;
  },
});
