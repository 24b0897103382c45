// The options of a proxy minion once it has a pillar: what its device is, and what is merged from the pillar.
import { asText, type Dict, dictEntries, dictGet, isDict, newDict, type Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { type MergeStrategy, mergeDicts, mergeStrategies } from '../../base/util/deep-merge.ts';
import { proxyTypeOf } from '../../extend/sdk/proxies.ts';

/** Changes the options; throws config.value when neither they nor the pillar have a usable `proxy`. */
export function settleProxy(opts: MinionOpts, pillar: Dict, log: Logger): void {
  const { raw } = opts;
  raw['proxy'] ??= dictGet(pillar, 'proxy') ?? null;
  if (raw['proxy'] === null)
    throw new HaliteError('config.value', `No proxy key found in pillar or opts for id ${opts.id}`, {
      hint: 'Add "proxy:" with its "proxytype" to the pillar of this id, or to the configuration of the proxy.',
    });
  const type = proxyTypeOf(raw);
  if (!type)
    throw new HaliteError('config.value', `The proxy ${opts.id} has no proxytype`, {
      hint: 'Name it in the pillar or the configuration of the proxy: proxy: {proxytype: dummy}',
    });
  if (raw['proxy_merge_pillar_in_opts'] === true || raw['metaproxy'] === 'deltaproxy') mergePillar(opts, pillar);
  else if (raw['proxy_mines_pillar'] !== false) mergeMine(opts, pillar, log);
}

/** Who this minion is, and where its masters and files are, is never the pillar's to say. */
const own: ReadonlySet<string> = new Set(
  'master id proxyid proxy pki_dir cachedir conf_file extension_modules default_include pidfile sock_dir'.split(' '),
);

function mergePillar({ raw }: MinionOpts, pillar: Dict): void {
  const named = asText(raw['proxy_merge_pillar_in_opts_strategy']);
  const strategy: MergeStrategy = mergeStrategies.find((known) => known === named) ?? 'smart';
  const wanted = dictEntries(pillar).filter(([key]) => typeof key === 'string' && !own.has(key));
  const before = newDict(Object.entries(raw));
  const merged = mergeDicts(before, newDict(wanted as [string, Value][]), {
    strategy,
    mergeLists: raw['proxy_deep_merge_pillar_in_opts'] === true,
  });
  for (const [key] of wanted) {
    const value = dictGet(merged, key);
    if (value !== undefined) raw[String(key)] = value;
  }
}

/** The mine is configured for each device, so mostly in the pillar. */
function mergeMine({ raw, id }: MinionOpts, pillar: Dict, log: Logger): void {
  const interval = dictGet(pillar, 'mine_interval');
  if (typeof interval === 'number') raw['mine_interval'] = interval;
  const functions = dictGet(pillar, 'mine_functions');
  if (functions === undefined) return;
  const general = raw['mine_functions'] ?? null;
  if (general === null) raw['mine_functions'] = functions;
  else if (Array.isArray(general) && Array.isArray(functions)) raw['mine_functions'] = [...general, ...functions];
  else if (isDict(general) && isDict(functions)) raw['mine_functions'] = mergeDicts(general, functions);
  else
    log.error('mine_functions of the pillar and of the configuration have different forms: the first are not used', {
      id,
    });
}
