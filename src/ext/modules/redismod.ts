// Execution module `redis`: keys and settings of a Redis server.
import {
  commandError,
  defineModule,
  fn,
  HaliteError,
  isDict,
  type ModuleContext,
  messageOf,
  newDict,
  type Param,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { lines } from 'halite/sdk/text';
import type { Redis } from 'ioredis';

const conn = {
  host: p.string({ default: null, falsy: null, doc: 'address of the server' }),
  port: p.scalar({ default: null, doc: 'its port' }),
  db: p.scalar({ default: null, doc: 'number of the database' }),
  password: p.string({ default: null, falsy: null, doc: 'password to connect with' }),
};
interface Conn {
  readonly host?: Value;
  readonly port?: Value;
  readonly db?: Value;
  readonly password?: Value;
}
const noDb = { host: conn.host, port: conn.port, password: conn.password };

async function settingsOf(at: Conn, prefix: string, ctx: ModuleContext): Promise<Required<Conn>> {
  const get = async (given: Value | undefined, name: string): Promise<Value> =>
    given || given === 0 ? given : await ctx.call('config.option', `${prefix}.${name}`, null);
  return {
    host: await get(at.host, 'host'),
    port: await get(at.port, 'port'),
    db: await get(at.db, 'db'),
    password: await get(at.password, 'password'),
  };
}

/** Connects, asks and disconnects. */
async function withRedis<T>(
  at: Conn,
  ctx: ModuleContext,
  work: (client: Redis) => Promise<T>,
  prefix: 'redis' | 'redis_sentinel' = 'redis',
): Promise<T> {
  const set = await settingsOf(at, prefix, ctx);
  const { Redis: Client } = await import('ioredis');
  const client = new Client({
    host: set.host ? pyStr(set.host) : 'localhost',
    port: Number(set.port || (prefix === 'redis' ? 6379 : 26379)),
    db: Number(set.db || 0),
    ...(set.password ? { password: pyStr(set.password) } : {}),
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: 30_000,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  let problem: unknown;
  client.on('error', (error: unknown) => {
    problem = error;
  });
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    if (error instanceof HaliteError) throw error;
    throw commandError(messageOf(problem ?? error));
  } finally {
    client.disconnect();
  }
}

type Shape = (answer: unknown) => Value;
const same: Shape = (answer) => (answer ?? null) as Value;
const isOk: Shape = (answer) => answer === 'OK' || (typeof answer === 'string' && answer.includes('started'));
const truth: Shape = (answer) => Boolean(answer);
const number: Shape = (answer) => Number(answer);
const pairs: Shape = (answer) => {
  const list = Array.isArray(answer) ? (answer as Value[]) : [];
  return newDict(list.flatMap((key, i) => (i % 2 === 0 ? [[pyStr(key), list[i + 1] ?? null] as [string, Value]] : [])));
};

type Known = Record<string, Param>;
/** A function that runs one command with its own arguments. */
function command(words: readonly string[], doc: string, example: string, own: Known, shape: Shape = same) {
  return fn({
    doc,
    examples: [`salt '*' redis.${example}`],
    params: { ...own, ...conn },
    run(args, ctx) {
      const given = args as unknown as PlainDict;
      const values = Object.keys(own).map((name) => pyStr(given[name] ?? null));
      const [first = '', ...more] = words;
      return withRedis(given as Conn, ctx, async (client) => shape(await client.call(first, ...more, ...values)));
    },
  });
}

const key = p.string({ doc: 'the key' });
const field = p.string({ doc: 'the field' });
const value = p.string({ doc: 'the value' });
const range = { start: p.int({ doc: 'the first' }), stop: p.int({ doc: 'the last' }) };
const pattern = p.string({ default: '*', doc: 'glob' });

const serverFunctions = {
  bgrewriteaof: command(['BGREWRITEAOF'], 'Rewrites the append-only file.', 'bgrewriteaof', {}, isOk),
  bgsave: command(['BGSAVE'], 'Saves the data in the background.', 'bgsave', {}, isOk),
  config_get: command(['CONFIG', 'GET'], 'Settings of the server.', 'config_get appendonly', { pattern }, pairs),
  config_set: command(
    ['CONFIG', 'SET'],
    'Changes a setting of the server.',
    'config_set appendonly yes',
    { name: p.string({ doc: 'the setting' }), value },
    isOk,
  ),
  dbsize: command(['DBSIZE'], 'How many keys there are.', 'dbsize', {}),
  flushall: command(['FLUSHALL'], 'Removes every key of every database.', 'flushall', {}, isOk),
  flushdb: command(['FLUSHDB'], 'Removes every key.', 'flushdb', {}, isOk),
  info: fn({
    doc: 'Information about the server.',
    examples: ["salt '*' redis.info"],
    params: conn,
    run: (args, ctx) =>
      withRedis(args, ctx, async (client) =>
        newDict(
          lines(await client.info()).flatMap((line): [string, Value][] => {
            const match = /^([^#:]+):(.*)$/.exec(line);
            return match ? [[match[1] as string, infoValue(match[2] ?? '')]] : [];
          }),
        ),
      ),
  }),
  lastsave: command(['LASTSAVE'], 'When the data was saved last.', 'lastsave', {}),
  ping: fn({
    doc: 'Whether the server answers.',
    examples: ["salt '*' redis.ping"],
    params: conn,
    run: (args, ctx) => withRedis(args, ctx, async (client) => (await client.ping()) === 'PONG').catch(() => false),
  }),
  save: command(['SAVE'], 'Saves the data.', 'save', {}, isOk),
  shutdown: fn({
    doc: 'Stops the server; returns whether it has stopped.',
    examples: ["salt '*' redis.shutdown"],
    params: conn,
    async run(args, ctx) {
      await withRedis(args, ctx, (client) => client.call('SHUTDOWN')).catch(() => undefined);
      return !(await withRedis(args, ctx, async (client) => (await client.ping()) === 'PONG').catch(() => false));
    },
  }),
  time: command(['TIME'], 'The time of the server.', 'time', {}, (answer) => Number((answer as string[])[0])),
};

/** Numbers as such, `a=1,b=2` as a dictionary. */
function infoValue(text: string): Value {
  if (/^-?\d+$/.test(text)) return Number(text);
  if (!/^[^,=]+=[^,=]*(?:,[^,=]+=[^,=]*)*$/.test(text)) return text;
  return newDict(
    text.split(',').map((part) => {
      const [name = '', rest = ''] = part.split('=');
      return [name, infoValue(rest)];
    }),
  );
}

const replication = {
  slaveof: fn({
    doc: 'Makes the server a replica of another one, or of none.',
    examples: ["salt '*' redis.slaveof master.example.org 6379", "salt '*' redis.slaveof"],
    params: {
      master_host: p.string({ default: null, falsy: null, doc: 'address of the primary' }),
      master_port: p.oneOf(['int', 'string'], { default: null, doc: 'its port' }),
      ...conn,
    },
    run: (args, ctx) =>
      withRedis(args, ctx, async (client) => {
        const to = args.master_host && !args.master_port ? 6379 : args.master_port;
        const words = args.master_host ? [args.master_host, pyStr(to)] : ['NO', 'ONE'];
        return isOk(await client.call('SLAVEOF', ...words));
      }),
  }),
  sentinel_get_master_ip: fn({
    doc: 'The address of a primary, from a sentinel.',
    examples: ["salt '*' redis.sentinel_get_master_ip 'mymaster'"],
    params: { master: p.string({ doc: 'its name' }), ...noDb },
    run: (args, ctx) =>
      withRedis(
        { ...args, db: 0 },
        ctx,
        async (client) => {
          const found = await client.call('SENTINEL', 'get-master-addr-by-name', args.master);
          const [host = '', port = ''] = Array.isArray(found) ? found.map(String) : [];
          return newDict([
            ['master_host', host],
            ['master_port', port],
          ]);
        },
        'redis_sentinel',
      ),
  }),
  get_master_ip: fn({
    doc: 'The address of the primary of this replica; empty when it is not a replica.',
    examples: ["salt '*' redis.get_master_ip"],
    params: noDb,
    run: (args, ctx) =>
      withRedis(args, ctx, async (client) => {
        const text = await client.info('replication');
        const get = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(text)?.[1] ?? '';
        return newDict([
          ['master_host', get('master_host')],
          ['master_port', get('master_port')],
        ]);
      }),
  }),
};

const keyFunctions = {
  delete: fn({
    doc: 'Removes keys; returns how many existed.',
    examples: ["salt '*' redis.delete foo bar"],
    params: { keys: p.rest({ doc: 'the keys' }), connection_args: p.kwargs({ doc: 'host, port, db, password' }) },
    run: (args, ctx) => withRedis(args.connection_args, ctx, (client) => client.del(...args.keys.map(pyStr))),
  }),
  exists: command(['EXISTS'], 'Whether there is a key.', 'exists foo', { key }),
  expire: command(
    ['EXPIRE'],
    'Lets a key go after some seconds.',
    'expire foo 300',
    { key, seconds: p.string({ doc: 'seconds' }) },
    truth,
  ),
  expireat: command(
    ['EXPIREAT'],
    'Lets a key go at a time.',
    'expireat foo 1900000000',
    { key, timestamp: p.string({ doc: 'seconds since 1970' }) },
    truth,
  ),
  get_key: command(['GET'], 'The value of a key.', 'get_key foo', { key }),
  set_key: command(['SET'], 'Sets the value of a key.', 'set_key foo bar', { key, value }, isOk),
  keys: command(['KEYS'], 'The keys that match.', "keys 'test*'", { pattern }),
  key_type: command(['TYPE'], 'The kind of a key.', 'key_type foo', { key }),
  llen: command(['LLEN'], 'The length of a list.', 'llen foo', { key }),
  lrange: command(['LRANGE'], 'A part of a list.', 'lrange foo 0 10', { key, ...range }),
  smembers: command(['SMEMBERS'], 'The members of a set.', 'smembers foo', { key }),
  zcard: command(['ZCARD'], 'The size of a sorted set.', 'zcard foo', { key }),
  zrange: command(['ZRANGE'], 'A part of a sorted set.', 'zrange foo 0 10', { key, ...range }),
};

const fields = p.rest({ doc: 'the fields' });
const options = p.kwargs({ doc: 'host, port, db, password' });
const atOf = (given: PlainDict): Conn => (isDict(given) ? (given as Conn) : {});

const hashFunctions = {
  hdel: fn({
    doc: 'Removes fields of a hash; returns how many existed.',
    examples: ["salt '*' redis.hdel foo bar"],
    params: { key, fields, options },
    run: (args, ctx) =>
      withRedis(atOf(args.options), ctx, (client) => client.hdel(args.key, ...args.fields.map(pyStr))),
  }),
  hexists: command(['HEXISTS'], 'Whether a hash has a field.', 'hexists foo bar', { key, field }, truth),
  hget: command(['HGET'], 'The value of a field of a hash.', 'hget foo bar', { key, field }),
  hgetall: command(['HGETALL'], 'All fields of a hash.', 'hgetall foo', { key }, pairs),
  hincrby: command(['HINCRBY'], 'Adds to a field of a hash.', 'hincrby foo bar 5', {
    key,
    field,
    increment: p.string({ default: 1, doc: 'the amount' }),
  }),
  hincrbyfloat: command(
    ['HINCRBYFLOAT'],
    'Adds to a field of a hash, with decimals.',
    'hincrbyfloat foo bar 5.17',
    { key, field, increment: p.string({ default: 1.0, doc: 'the amount' }) },
    number,
  ),
  hlen: command(['HLEN'], 'How many fields a hash has.', 'hlen foo', { key }),
  hmget: fn({
    doc: 'The values of fields of a hash.',
    examples: ["salt '*' redis.hmget foo bar1 bar2"],
    params: { key, fields, options },
    run: (args, ctx) =>
      withRedis(atOf(args.options), ctx, (client) => client.hmget(args.key, ...args.fields.map(pyStr))),
  }),
  hmset: fn({
    doc: 'Sets fields of a hash: field=value.',
    examples: ["salt '*' redis.hmset foo bar1=value1"],
    params: { key, fieldsvals: p.kwargs({ doc: 'field=value, and host, port, db, password' }) },
    run(args, ctx) {
      const { host, port, db, password, ...rest } = args.fieldsvals as PlainDict & Conn;
      const values = Object.entries(rest as PlainDict).filter(([name]) => !name.startsWith('__'));
      const at: Conn = { host: host ?? null, port: port ?? null, db: db ?? null, password: password ?? null };
      return withRedis(at, ctx, async (client) =>
        isOk(await client.call('HMSET', args.key, ...values.flatMap(([name, item]) => [name, pyStr(item)]))),
      );
    },
  }),
  hset: command(['HSET'], 'Sets a field of a hash.', 'hset foo bar value', { key, field, value }),
  hsetnx: command(['HSETNX'], 'Sets a field of a hash that has none.', 'hsetnx foo bar value', { key, field, value }),
  hvals: command(['HVALS'], 'All values of a hash.', 'hvals foo', { key }),
  hscan: fn({
    doc: 'Iterates over the fields of a hash: returns the next position, and some fields.',
    examples: ["salt '*' redis.hscan foo match='field_prefix_*' count=1"],
    params: {
      key,
      cursor: p.int({ default: 0, doc: 'the position to continue from' }),
      match: p.string({ default: null, doc: 'glob' }),
      count: p.string({ default: null, doc: 'about how many' }),
      ...conn,
    },
    run: (args, ctx) =>
      withRedis(args, ctx, async (client) => {
        const more = [
          ...(args.match === null ? [] : ['MATCH', args.match]),
          ...(args.count === null ? [] : ['COUNT', args.count]),
        ];
        const [next, found] = (await client.call('HSCAN', args.key, args.cursor, ...more)) as [string, string[]];
        return [Number(next), pairs(found)];
      }),
  }),
};

export default defineModule({
  name: 'redismod',
  virtualName: 'redis',
  doc: 'Keys and settings of a Redis server.',
  reads: [
    'config_get',
    'dbsize',
    'info',
    'lastsave',
    'ping',
    'time',
    'exists',
    'get_key',
    'keys',
    'key_type',
    'llen',
    'lrange',
    'smembers',
    'zcard',
    'zrange',
    'hexists',
    'hget',
    'hgetall',
    'hlen',
    'hmget',
    'hvals',
    'hscan',
    'sentinel_get_master_ip',
    'get_master_ip',
  ],
  functions: { ...serverFunctions, ...keyFunctions, ...hashFunctions, ...replication },
});
