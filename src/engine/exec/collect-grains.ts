// Collects the grains of this machine: built-in collectors, users' own, the grains file and the configuration, in Salt's order.

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isTruthy } from '../../base/codec/python/index.ts';
import { asDict, type Dict, dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { mergeRecurse } from '../../base/util/deep-merge.ts';
import { globMatcher } from '../../base/util/fnmatch.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { ExtensionLog, GrainContext, ProxyServices } from '../../extend/sdk/index.ts';
import { isProxyMinion, proxyTypeOf } from '../../extend/sdk/proxies.ts';
import { execProgram } from './exec.ts';

type Opts = Readonly<Record<string, Value>>;

/** A collector that hangs must not prevent the minion from starting. */
const collectorDeadlineMs = 60_000;

/** All grains. A collector that fails loses only its own grains. */
export async function collectGrains(
  loader: Loader,
  opts: Opts,
  log: ExtensionLog,
  proxy?: ProxyServices,
): Promise<PlainDict> {
  const ctx: GrainContext = {
    ...{ opts, log, proxy },
    exec: (file, args, options = {}) => execProgram(file, args, { timeoutMs: 30_000, sockets: true, ...options }),
  };
  const all = await loader.collectors();
  const collectors = isProxyMinion(opts) ? all.filter((collector) => isFor(collector.proxies, opts)) : all;
  collectors.sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0));
  let grains = newDict();
  const add = (found: Dict) => {
    const wanted = withoutBlacklisted(found, opts['grains_blacklist']);
    if (opts['grains_deep_merge'] === true) grains = mergeRecurse(grains, wanted) as PlainDict;
    else for (const [key, value] of dictEntries(wanted)) if (typeof key === 'string') grains[key] = value;
  };
  for (const collector of collectors) {
    try {
      add(await inTime(collector.collect(ctx, grains), collector.name));
    } catch (error) {
      log.error('grains could not be collected', { collector: collector.name, error: messageOf(error) });
    }
  }
  if (proxy) add(await grainsOfDevice(proxy, opts, log));
  add(await grainsFile(opts, log));
  const configured = opts['grains'];
  if (configured !== undefined && isDict(configured)) {
    for (const [key, value] of dictEntries(configured)) if (typeof key === 'string') grains[key] = value;
  }
  return grains;
}

/** A proxy minion has grains of its device instead of those of the machine on which it runs. */
function isFor(types: readonly string[] | undefined, opts: Opts): boolean {
  const type = proxyTypeOf(opts);
  return types !== undefined && (types.includes('*') || (type !== undefined && types.includes(type)));
}

/** What the proxy type itself says, unless `proxy_merge_grains_in_module` is off. */
async function grainsOfDevice(proxy: ProxyServices, opts: Opts, log: ExtensionLog): Promise<Dict> {
  if (opts['proxy_merge_grains_in_module'] === false) return newDict();
  try {
    if (!(await proxy.has('grains'))) return newDict();
    if ((await proxy.has('initialized')) && !isTruthy(await proxy.call('initialized'))) return newDict();
    const found = await inTime(proxy.call('grains') as Promise<Dict>, `${proxy.type}.grains`);
    return asDict(found) ?? newDict();
  } catch (error) {
    log.error('the device gives no grains', { proxy: proxy.type, error: messageOf(error) });
    return newDict();
  }
}

function inTime(collecting: Dict | Promise<Dict>, name: string): Promise<Dict> {
  return withTimeout(collecting, collectorDeadlineMs, () => {
    throw new Error(`${name} took longer than ${collectorDeadlineMs / 1000} s`);
  });
}

function withoutBlacklisted(found: Dict, patterns: Value | undefined): Dict {
  if (!Array.isArray(patterns) || patterns.length === 0) return found;
  const blocked = patterns.map((pattern) => globMatcher(String(pattern)));
  const kept = dictEntries(found).filter(([key]) => !blocked.some((matches) => matches(String(key))));
  return newDict(kept as [string, Value][]);
}

/** The file `grains` next to the minion's configuration. */
function grainsFilePath(opts: Opts): string | undefined {
  const conf = opts['conf_file'];
  return typeof conf === 'string' && conf ? join(dirname(conf), 'grains') : undefined;
}

async function grainsFile(opts: Opts, log: ExtensionLog): Promise<Dict> {
  const path = grainsFilePath(opts);
  if (!path) return newDict();
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    // Most machines have no such file.
    return newDict();
  }
  try {
    const { loadYaml } = await import('../../base/codec/yaml/index.ts');
    const value = loadYaml(text);
    return asDict(value) ?? newDict();
  } catch (error) {
    log.warn('Bad syntax in grains file! Skipping.', { path, error: messageOf(error) });
    return newDict();
  }
}
