// Roster `cache`: the minions that the master remembers, at the addresses of their grains.
import {
  asDict,
  asList,
  asText,
  type Dict,
  defineRoster,
  dictEntries,
  dictGet,
  dictOf,
  HaliteError,
  isDict,
  type KnownMinion,
  oneOrMore,
  pyStr,
  type RosterContext,
  type Value,
} from 'halite/sdk';
import { traverse } from 'halite/sdk/data';
import { compareIp, formatIp, type IpAddress, inNetwork, ipKinds, parseIp, parseNetwork } from 'halite/sdk/net';

const defaultOrder: Dict = dictOf([['host', ['ipv6-private', 'ipv6-global', 'ipv4-private', 'ipv4-public']]]);

const addressesOf = ({ grains }: KnownMinion, version: 4 | 6): IpAddress[] =>
  (asList(dictGet(grains, `ipv${version}`)) ?? []).flatMap((text) => parseIp(String(text)) ?? []).sort(compareIp);

const isPrivate = (ip: IpAddress): boolean => ipKinds.private(ip);
const classes: Readonly<Record<string, (ip: IpAddress) => boolean>> = {
  global: (ip) => !isPrivate(ip),
  public: (ip) => !isPrivate(ip),
  private: (ip) => isPrivate(ip) && !ipKinds.loopback(ip) && !ipKinds.linkLocal(ip),
  local: (ip) => ipKinds.loopback(ip),
};

function addressOf(minion: KnownMinion, key: string): string | undefined {
  if (/^[0-9a-fA-F:./]+$/.test(key)) {
    const network = parseNetwork(key, true);
    const found = network && addressesOf(minion, network.version).find((ip) => inNetwork(ip, network));
    return found && formatIp(found);
  }
  const [, version, name = key] = /^ipv([46])-(.+)$/.exec(key) ?? [];
  const test = Object.hasOwn(classes, name) ? classes[name] : undefined;
  if (!test) throw new HaliteError('config.value', `Invalid filter ${key} specified in roster_order`);
  const versions = version ? [Number(version) as 4 | 6] : ([4, 6] as const);
  for (const each of versions) {
    const found = addressesOf(minion, each).find(test);
    if (found) return formatIp(found);
  }
  return undefined;
}

/** `{grain: a:b}`, `{pillar: [a, b]}`, `{mine: …}`. */
function dataOf(minion: KnownMinion, key: Dict): Value | undefined {
  const sources = { grain: minion.grains, grains: minion.grains, pillar: minion.pillar, mine: minion.mine };
  for (const [name, lookups] of dictEntries(key)) {
    const source = Object.hasOwn(sources, pyStr(name)) ? sources[pyStr(name) as keyof typeof sources] : undefined;
    for (const lookup of source ? oneOrMore(lookups) : []) {
      const value = source && traverse(source, pyStr(lookup));
      if (value) return value;
    }
  }
  return undefined;
}

async function lookUp(id: string, minion: KnownMinion, key: Value, ctx: RosterContext): Promise<Value | undefined> {
  if (isDict(key)) return dataOf(minion, key);
  const text = pyStr(key);
  if (text === 'id') return id;
  return text.startsWith('sdb://') ? ctx.secret(text) : addressOf(minion, text);
}

export default defineRoster({
  name: 'cache',
  doc: 'Minions that the master remembers, matched by every kind of target; `roster_order` says which address is used.',
  async targets(_target, ctx) {
    const order = asDict(ctx.opts['roster_order']) ?? defaultOrder;
    const found: [string, Value][] = [];
    for (const [id, minion] of await ctx.knownMinions()) {
      const entry: [Value, Value][] = [];
      for (const [field, keys] of dictEntries(order)) {
        for (const key of oneOrMore(keys)) {
          const value = await lookUp(id, minion, key, ctx);
          if (!value) continue;
          entry.push([field, value]);
          break;
        }
      }
      const known = dictOf(entry);
      if (asText(dictGet(known, 'host'))) found.push([id, known]);
      else ctx.log.warn('Could not determine host information for minion', { minion: id });
    }
    return dictOf(found);
  },
});
