// Engine `redis_sentinel`: events for what the sentinels of Redis announce.
import {
  defineEngine,
  dictGet,
  type EngineContext,
  HaliteError,
  isTexts,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';

const connectMs = 10_000;

/** The fields of an announcement, by its channel. */
function fieldsOf(channel: string, text: string): PlainDict {
  const words = text.split(' ');
  const named = (names: readonly string[], values: readonly string[]): PlainDict =>
    newDict([['channel', channel], ...names.map((name, at): [string, Value] => [name, values[at] ?? null])]);
  if (channel === '+switch-master') return named(['master', 'old_host', 'old_port', 'new_host', 'new_port'], words);
  if (channel === '+odown' || channel === '-odown') return named(['master', 'host', 'port'], words.slice(1));
  return named(['data'], [text]);
}

/** The address of a sentinel: `host`, or that of the last minion that matches. */
async function addressOf(hosts: PlainDict, ctx: EngineContext): Promise<string> {
  const { host, matching, interface: name } = hosts;
  if (typeof host === 'string') return host;
  if (!ctx.master) throw new HaliteError('config.value', 'redis_sentinel: hosts needs host, or the engine a master');
  const job = { tgt: pyStr(matching ?? '*'), tgt_type: 'glob', fun: 'network.ip_addrs', arg: [name ?? null] };
  const { returns } = await ctx.master.runJob(job);
  const found = Object.values(returns).flatMap(({ ret }) => (isTexts(ret) && ret[0] !== undefined ? [ret[0]] : []));
  const last = found.at(-1);
  if (last === undefined)
    throw new HaliteError('call.failed', `redis_sentinel: no minion of ${pyStr(matching ?? '*')} has an address`);
  return last;
}

export default defineEngine({
  name: 'redis_sentinel',
  doc: 'Fires `salt/engine/redis_sentinel/<channel>` for what a sentinel of Redis announces.',
  examples: [
    "engines:\n  - redis_sentinel:\n      hosts: {matching: 'board*', port: 26379, interface: eth2}\n      channels: [+switch-master, +odown, -odown]",
  ],
  params: {
    hosts: p.dict({ doc: '`matching` and `interface` name a minion and its address; or `host`. And `port`.' }),
    channels: p.strings({ doc: 'Channels, also as globs.' }),
    tag: p.string({ default: 'salt/engine/redis_sentinel', nullable: true, doc: 'The front part of the tags.' }),
    password: p.string({ default: null, doc: 'The password of the sentinel.' }),
  },
  async start({ hosts, channels, tag, password }, ctx) {
    const { Redis } = await import('ioredis');
    const given = newDict(
      ['host', 'matching', 'interface'].map((key): [string, Value] => [key, dictGet(hosts, key) ?? null]),
    );
    const host = await addressOf(given, ctx);
    const port = Number(dictGet(hosts, 'port') ?? 26_379);
    const client = new Redis({
      ...{ host, port, lazyConnect: true, connectTimeout: connectMs, maxRetriesPerRequest: null },
      ...(password === null ? {} : { password }),
    });
    client.on('error', (error) => ctx.log.warn(`redis_sentinel at ${host}:${port}: ${messageOf(error)}`));
    client.on('pmessage', (_pattern, channel: string, text: string) => {
      const name = `${tag ?? 'salt/engine/redis_sentinel'}/${channel}`;
      ctx.fire(name, fieldsOf(channel, text)).catch((error: unknown) => ctx.log.error(messageOf(error)));
    });
    await client.connect();
    await client.psubscribe(...channels);
    await new Promise<void>((resolve) => {
      if (ctx.signal.aborted) resolve();
      ctx.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.disconnect();
  },
});
