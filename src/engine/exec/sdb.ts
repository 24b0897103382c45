// `sdb://<profile>/<key>`: finds the profile and calls its driver.
import {
  type Dict,
  dictEntries,
  dictGet,
  fieldOf,
  isDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { ModuleContext, Sdb, SdbServices } from '../../extend/sdk/index.ts';

const scheme = 'sdb://';

interface Address {
  readonly profile: Dict;
  readonly driver: string;
  readonly key: string;
}

/** The profile and key of a URI, or why it is not valid. */
function addressOf(uri: Value, ctx: ModuleContext): Address | string {
  if (typeof uri !== 'string' || !uri.startsWith(scheme)) return 'SDB uri must start with "sdb://"';
  const slash = uri.indexOf('/', scheme.length);
  const key = slash < 0 ? '' : uri.slice(slash + 1);
  if (key === '') return 'SDB uri must have a profile name as a first part of the uri before the /';
  const name = uri.slice(scheme.length, slash);
  const [own, inPillar] = [dictGet(ctx.opts as PlainDict, name), dictGet(ctx.pillar, name)];
  const profile = [own, inPillar].find(
    (found) => found !== undefined && isDict(found) && dictEntries(found).length > 0,
  );
  const driver = fieldOf(profile, 'driver');
  if (typeof driver !== 'string') return `SDB profile "${name}" wasnt found in the minion configuration`;
  return { profile: profile as Dict, driver, key };
}

export function createSdb(loader: Loader, ctx: ModuleContext): SdbServices {
  const functionOf = async <N extends 'get' | 'set' | 'delete'>(
    driver: string,
    name: N,
  ): Promise<NonNullable<Sdb[N]>> => {
    const found = await loader.get('sdb', driver);
    const run = found?.extension[name];
    if (run) return run.bind(found?.extension) as NonNullable<Sdb[N]>;
    const reason = found
      ? `the driver ${driver} cannot ${name}`
      : (loader.reason('sdb', driver) ?? 'there is no such driver');
    throw new HaliteError('call.failed', `'${driver}.${name}' is not available: ${reason}`);
  };
  return {
    async get(uri, strict = false) {
      const at = addressOf(uri, ctx);
      if (typeof at !== 'string') return (await functionOf(at.driver, 'get'))(at.key, at.profile, ctx);
      if (strict) throw new HaliteError('call.arguments', at);
      return uri;
    },
    async set(uri, value) {
      const at = addressOf(uri, ctx);
      return typeof at === 'string' ? false : (await functionOf(at.driver, 'set'))(at.key, value, at.profile, ctx);
    },
    async delete(uri) {
      const at = addressOf(uri, ctx);
      return typeof at === 'string' ? false : (await functionOf(at.driver, 'delete'))(at.key, at.profile, ctx);
    },
  };
}
