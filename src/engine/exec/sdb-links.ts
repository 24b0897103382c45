// Resolves references to secret stores that configuration files contain in place of values.
import { asText, dictEntries, dictOf, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { Loader } from '../../extend/loader/index.ts';
import type { ExtensionLog, MinionServices, SdbServices } from '../../extend/sdk/index.ts';
import { execProgram } from './exec.ts';
import { createContext } from './runtime.ts';
import { createSdb } from './sdb.ts';

/**
 * The values of options with references (`deferred` of a loaded configuration), resolved. A reference without a value
 * stays unchanged; a store that fails stops the program, because it would use the reference as a password.
 */
export async function resolveLinks(
  given: PlainDict,
  names: readonly string[],
  opts: Readonly<Record<string, Value>>,
  log: ExtensionLog,
): Promise<PlainDict> {
  const none = newDict();
  const loader = new Loader({ opts: () => opts, grains: () => none, log, userCode: 'names' });
  const ctx = createContext(
    {
      id: asText(opts['id']) ?? '',
      loader,
      log,
      minion: noMinion,
      opts: () => opts,
      grains: () => none,
      pillar: () => none,
      exec: (file, args, options, signal) => execProgram(file, args, options, signal),
      match: async () => false,
    },
    { signal: new AbortController().signal, progress: () => undefined, retcode: 0 },
  );
  const sdb = createSdb(loader, ctx);
  const found = newDict();
  for (const name of names) {
    if (!Object.hasOwn(given, name)) continue;
    found[name] = await resolved(given[name] as Value, sdb).catch((error: unknown) => {
      throw new HaliteError(
        'config.value',
        `The option ${name} contains a reference to a secret store that cannot be resolved: ${messageOf(error)}`,
      );
    });
  }
  return found;
}

async function resolved(value: Value, sdb: SdbServices): Promise<Value> {
  if (typeof value === 'string') return value.startsWith('sdb://') ? sdb.get(value) : value;
  if (Array.isArray(value)) return Promise.all(value.map((item) => resolved(item, sdb)));
  if (value === null || !isDict(value)) return value;
  const entries = dictEntries(value).map(
    async ([key, item]): Promise<[Value, Value]> => [key, await resolved(item, sdb)],
  );
  return dictOf(await Promise.all(entries));
}

const away = (): Promise<never> =>
  Promise.reject(new HaliteError('daemon.unreachable', 'The configuration is still being read'));

const noMinion: MinionServices = {
  hasMaster: false,
  running: async () => [],
  signalJob: async () => '',
  masterRequest: away,
  fire: async () => false,
  refreshGrains: away,
  refreshPillar: async () => false,
  compilePillar: away,
  reloadExtensions: away,
};
