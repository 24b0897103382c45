// Execution module `mine`: data that minions store on the master for other minions.
import {
  cleanKwargs,
  type Dict,
  defineModule,
  dictEntries,
  dictGet,
  dictOf,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { inNetwork, parseIp, parseNetwork } from 'halite/sdk/net';
import { dictDelete, dictSet } from '../shared/data.ts';
import { readStore, writeStore } from '../shared/datastore.ts';

const cacheKey = 'mine_cache';
const isLocal = (ctx: ModuleContext): boolean => ctx.opts['file_client'] === 'local';

interface Definition {
  readonly fun: string;
  readonly args: Value[];
  readonly kwargs: PlainDict;
  readonly acl: PlainDict;
  readonly renamed: boolean;
}

/** Reads a `mine_functions` entry: a list or dictionary of arguments that may also contain the real function and access rules. */
export function parseDefinition(alias: string, definition: Value): Definition {
  const args: Value[] = [];
  const kwargs = newDict();
  const take = (dict: Dict): void => {
    for (const [key, value] of dictEntries(dict)) kwargs[pyStr(key)] = value;
  };
  if (isDict(definition)) take(definition);
  for (const item of Array.isArray(definition) ? definition : []) {
    if (isDict(item)) take(item);
    else args.push(item);
  }
  const { mine_function: fun, allow_tgt: tgt, allow_tgt_type: type, ...rest } = kwargs;
  const acl = newDict();
  if (isTruthy(tgt)) acl['allow_tgt'] = tgt as Value;
  if (isTruthy(type)) acl['allow_tgt_type'] = type as Value;
  return {
    fun: isTruthy(fun) ? pyStr(fun) : alias,
    args,
    kwargs: newDict(Object.entries(rest)),
    acl,
    renamed: isTruthy(fun),
  };
}

/** Data with rules about who may read it. */
function withAcl(data: Value, acl: PlainDict): Value {
  if (!isTruthy(acl['allow_tgt'])) return data;
  return newDict([
    ['__data__', data],
    ['__saltmine_acl__', 1],
    ...Object.entries(acl).filter(([, value]) => isTruthy(value)),
  ]);
}

async function store(data: Dict, clear: boolean, ctx: ModuleContext): Promise<boolean> {
  if (!isLocal(ctx)) {
    await ctx.minion.masterRequest(
      newDict([
        ['cmd', '_mine'],
        ['data', data],
        ['id', ctx.id],
        ['clear', clear],
      ]),
    );
    return true;
  }
  const all = readStore(ctx.opts);
  const before = dictGet(all, cacheKey);
  const kept = !clear && isDict(before) ? dictEntries(before) : [];
  dictSet(all, cacheKey, dictOf([...kept, ...dictEntries(data)]));
  writeStore(ctx.opts, all);
  return true;
}

async function definitions(ctx: ModuleContext): Promise<[string, Value][]> {
  const found = await ctx.call('config.merge', 'mine_functions', newDict());
  return isDict(found) ? dictEntries(found).map(([alias, definition]) => [pyStr(alias), definition]) : [];
}

const isAvailable = async (fun: string, ctx: ModuleContext): Promise<boolean> => {
  const found = (await ctx.registry.functionInfo('modules', fun)) !== undefined;
  if (!found) ctx.log.error('function in mine_functions is not available', { fun });
  return found;
};

async function update(clear: boolean, wanted: [string, Value][], ctx: ModuleContext): Promise<boolean> {
  const data: [Value, Value][] = [];
  for (const [alias, definition] of wanted) {
    const { fun, args, kwargs, acl } = parseDefinition(alias, definition);
    if (!(await isAvailable(fun, ctx))) continue;
    try {
      data.push([alias, withAcl(await ctx.callWith(fun, args, kwargs), acl)]);
    } catch (error) {
      ctx.log.error('function in mine.update failed', { fun, problem: messageOf(error) });
    }
  }
  return store(dictOf(data), clear, ctx);
}

/** The local mine of a minion without a master: only its own data. */
async function getLocal(tgt: Value, fun: Value, tgtType: string, ctx: ModuleContext): Promise<Dict> {
  const names = Array.isArray(fun) ? fun.map((name) => pyStr(name)) : [...new Set(pyStr(fun).split(','))];
  const data = dictGet(readStore(ctx.opts), cacheKey);
  if (!(await ctx.call(`match.${tgtType}`, tgt)) || !isDict(data)) return newDict();
  const several = Array.isArray(fun) || names.length > 1;
  const found: [Value, Value][] = [];
  for (const name of names) {
    const item = dictGet(data, name);
    if (item === undefined) continue;
    const value =
      isDict(item) && dictGet(item, '__saltmine_acl__') !== undefined ? (dictGet(item, '__data__') ?? null) : item;
    found.push(several ? [name, dictOf([[ctx.id, value]])] : [ctx.id, value]);
  }
  return dictOf(found);
}

async function get(tgt: Value, fun: Value, tgtType: string, ctx: ModuleContext): Promise<Value> {
  if (isLocal(ctx)) return getLocal(tgt, fun, tgtType, ctx);
  return ctx.minion.masterRequest(
    newDict([
      ['cmd', '_mine_get'],
      ['id', ctx.id],
      ['tgt', tgt],
      ['fun', fun],
      ['tgt_type', tgtType],
    ]),
  );
}

const listOf = (value: Value): string[] | undefined =>
  isTruthy(value) ? (Array.isArray(value) ? value : [value]).map((item) => pyStr(item)) : undefined;

function hostAddresses(
  host: Value | undefined,
  interfaces: string[] | undefined,
  cidrs: string[] | undefined,
): string[] {
  const all = host && isDict(host) ? dictGet(host, 'interfaces') : undefined;
  const entries =
    all && isDict(all) ? dictEntries(all).filter(([name]) => !interfaces || interfaces.includes(pyStr(name))) : [];
  const found = entries.flatMap(([, data]) => {
    const inet = isDict(data) ? dictGet(data, 'inet') : undefined;
    return Array.isArray(inet)
      ? inet.flatMap((item) => (isDict(item) ? pyStr(dictGet(item, 'address') ?? '') : []))
      : [];
  });
  const inside = (text: string): boolean => {
    const address = parseIp(text);
    return (
      !cidrs ||
      cidrs.some((cidr) => {
        const network = parseNetwork(cidr);
        return address !== undefined && network !== undefined && inNetwork(address, network);
      })
    );
  };
  return [...new Set(found.filter(inside))];
}

interface Docker {
  readonly interfaces: string[] | undefined;
  readonly cidrs: string[] | undefined;
  readonly withId: boolean;
}

/** Published ports of containers by image, from mined `docker.ps`. */
function dockerPorts(hosts: Dict, options: Docker): PlainDict {
  const images = newDict();
  for (const [, containers] of dictEntries(hosts)) {
    if (!isDict(containers)) continue;
    const addresses = hostAddresses(dictGet(containers, 'host'), options.interfaces, options.cidrs);
    for (const [name, container] of dictEntries(containers)) {
      if (name === 'host' || !isDict(container)) continue;
      const key = pyStr(dictGet(container, 'Image') ?? '');
      images[key] ??= newDict();
      const image = images[key] as PlainDict;
      const info = dictGet(container, 'Info');
      const id = isDict(info ?? null) ? (dictGet(info as Dict, 'Id') ?? null) : null;
      const ports = dictGet(container, 'Ports');
      for (const port of Array.isArray(ports) ? ports : [])
        if (isDict(port)) addPort(image, port, addresses, options.withId ? id : undefined);
    }
  }
  return images;
}

function addPort(image: PlainDict, port: Dict, addresses: readonly string[], id: Value | undefined): void {
  const ip = dictGet(port, 'IP');
  if (!ip) return;
  image['ipv4'] ??= new Map<Value, Value>();
  const byPort = image['ipv4'] as Map<Value, Value>;
  const key = dictGet(port, 'PrivatePort') ?? null;
  const list = (byPort.get(key) ?? []) as Value[];
  for (const address of ip === '0.0.0.0' ? addresses : [pyStr(ip)]) {
    const text = `${address}:${pyStr(dictGet(port, 'PublicPort') ?? '')}`;
    if (!list.some((known) => (Array.isArray(known) ? known[0] : known) === text))
      list.push(id === undefined ? text : [text, id]);
  }
  byPort.set(key, list);
}

export default defineModule({
  name: 'mine',
  doc: 'Data that minions store on the master for other minions.',
  reads: ['get', 'valid'],
  functions: {
    update: fn({
      doc: 'Runs the functions of the option mine_functions (or the given ones) and sends their results to the mine.',
      examples: ["salt '*' mine.update"],
      params: {
        clear: p.bool({ default: false, doc: 'remove everything else' }),
        mine_functions: p.oneOf(['list', 'dict', 'string'], {
          default: null,
          doc: 'list of functions, or dictionary as in the option',
        }),
      },
      async run({ clear, mine_functions }, ctx) {
        const given = Array.isArray(mine_functions)
          ? mine_functions.map((fun): [string, Value] => [pyStr(fun), newDict()])
          : isDict(mine_functions)
            ? dictEntries(mine_functions).map(([fun, definition]): [string, Value] => [pyStr(fun), definition])
            : [];
        const wanted = given.length > 0 ? given : await definitions(ctx);
        return wanted.length > 0 ? update(clear, wanted, ctx) : null;
      },
    }),
    send: fn({
      doc: 'Runs one function and sends its result to the mine.',
      examples: [
        "salt '*' mine.send network.ip_addrs interface=eth0",
        "salt '*' mine.send eth0_ip_addrs mine_function=network.ip_addrs interface=eth0",
        "salt '*' mine.send network.ip_addrs allow_tgt='G@role:web' allow_tgt_type=compound",
      ],
      params: {
        name: p.string({ doc: 'name in the mine' }),
        args: p.rest(),
        kwargs: p.kwargs({ doc: 'mine_function, allow_tgt, allow_tgt_type, and arguments of the function' }),
      },
      async run({ name, args, kwargs }, ctx) {
        const { mine_function: fun, allow_tgt: tgt, allow_tgt_type: type, ...rest } = cleanKwargs(kwargs);
        const real = isTruthy(fun) ? pyStr(fun) : name;
        try {
          const value = await ctx.callWith(real, args, newDict(Object.entries(rest)));
          const acl = newDict([
            ['allow_tgt', tgt ?? null],
            ['allow_tgt_type', type ?? null],
          ]);
          return await store(dictOf([[name, withAcl(value, acl)]]), false, ctx);
        } catch (error) {
          ctx.log.error('function in mine.send failed', { fun: real, problem: messageOf(error) });
          return false;
        }
      },
    }),
    get: fn({
      doc: 'Data of other minions in the mine: minion → data; for several functions function → minion → data.',
      examples: ["salt '*' mine.get '*' network.interfaces", "salt '*' mine.get 'os:Fedora' network.interfaces grain"],
      params: {
        tgt: p.oneOf(['string', 'list'], { doc: 'which minions' }),
        fun: p.oneOf(['string', 'list'], { doc: 'function, list of functions or text with commas' }),
        tgt_type: p.string({ default: 'glob' }),
        exclude_minion: p.bool({ default: false, doc: 'exclude this minion' }),
      },
      async run({ tgt, fun, tgt_type, exclude_minion }, ctx) {
        const found = await get(tgt, fun, tgt_type, ctx);
        return exclude_minion && isDict(found) ? dictOf(dictEntries(found).filter(([id]) => id !== ctx.id)) : found;
      },
    }),
    delete: fn({
      doc: 'Removes the data of this minion under a name from the mine.',
      examples: ["salt '*' mine.delete 'network.interfaces'"],
      params: { fun: p.string() },
      async run({ fun }, ctx) {
        if (!isLocal(ctx)) {
          await ctx.minion.masterRequest(
            newDict([
              ['cmd', '_mine_delete'],
              ['id', ctx.id],
              ['fun', fun],
            ]),
          );
          return true;
        }
        const all = readStore(ctx.opts);
        const data = dictGet(all, cacheKey);
        if (isDict(data ?? null)) dictDelete(data as Dict, fun);
        writeStore(ctx.opts, all);
        return true;
      },
    }),
    flush: fn({
      doc: 'Removes all data of this minion from the mine.',
      examples: ["salt '*' mine.flush"],
      async run(_, ctx) {
        if (isLocal(ctx)) return store(newDict(), true, ctx);
        await ctx.minion.masterRequest(
          newDict([
            ['cmd', '_mine_flush'],
            ['id', ctx.id],
          ]),
        );
        return true;
      },
    }),
    valid: fn({
      doc: 'The entries of the mine_functions option that can be run.',
      examples: ["salt '*' mine.valid"],
      async run(_, ctx) {
        const wanted = await definitions(ctx);
        if (wanted.length === 0) return null;
        const found: [Value, Value][] = [];
        for (const [alias, definition] of wanted) {
          const { fun, args, kwargs, renamed } = parseDefinition(alias, definition);
          if (!(await isAvailable(fun, ctx))) continue;
          const named = Object.entries(kwargs).map(([key, value]) => newDict([[key, value]]));
          found.push([alias, renamed ? newDict([[fun, [...args, ...named]]]) : definition]);
        }
        return dictOf(found);
      },
    }),
    get_docker: fn({
      doc: 'Published ports of containers by image, from mined docker.ps.',
      examples: ["salt '*' mine.get_docker", `salt '*' mine.get_docker cidrs='107.170.147.0/24'`],
      params: {
        interfaces: p.strings({ default: null, falsy: null, doc: 'only addresses of these interfaces' }),
        cidrs: p.strings({ default: null, falsy: null, doc: 'only addresses of these networks' }),
        with_container_id: p.bool({ default: false }),
      },
      async run(args, ctx) {
        const hosts = await get('*', 'docker.ps', 'glob', ctx);
        const options = {
          interfaces: listOf(args.interfaces),
          cidrs: listOf(args.cidrs),
          withId: args.with_container_id,
        };
        return isDict(hosts) ? dockerPorts(hosts, options) : newDict();
      },
    }),
  },
});
