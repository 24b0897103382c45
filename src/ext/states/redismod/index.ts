// State module `redis`: keys and replication of a Redis server.
import { defineState, newDict, p, pyStr, resource, state, textKeyed, type Value } from 'halite/sdk';

const connection_args = p.kwargs({ doc: 'host, port, db, password' });

export default defineState({
  name: 'redismod',
  virtualName: 'redis',
  doc: 'Keys and replication of a Redis server.',
  functions: {
    string: state({
      doc: 'A key that must have a value.',
      examples: ['colour:\n  redis.string:\n    - value: blue\n    - expire: 300'],
      params: {
        name: p.string({ doc: 'the key' }),
        value: p.scalar({ nullable: true, doc: 'its value' }),
        expire: p.scalar({ default: null, doc: 'time to live in seconds' }),
        expireat: p.scalar({ default: null, doc: 'expiry in seconds since 1970' }),
        connection_args,
      },
      async run(args, ctx) {
        const { name, value, expire, expireat, connection_args: at } = args;
        const old = await ctx.callWith('redis.get_key', [name], at);
        const differs = old === null || pyStr(old) !== pyStr(value);
        const changes = newDict([
          ...(differs ? [[name, 'Value updated'] as [string, Value]] : []),
          ...(expireat ? [['expireat', `Key expires at ${pyStr(expireat)}`] as [string, Value]] : []),
          ...(!expireat && expire ? [['expire', `TTL set to ${pyStr(expire)} seconds`] as [string, Value]] : []),
        ]);
        const comment = differs ? 'Key updated to new value' : 'Key already set to defined value';
        if (Object.keys(changes).length === 0) return ctx.ok(comment);
        return ctx.change(changes, comment, {
          test: differs ? 'Key would be updated to new value' : 'Time to live of the key would be set',
          async apply() {
            if (differs) await ctx.callWith('redis.set_key', [name, value], at);
            if (expireat) await ctx.callWith('redis.expireat', [name, expireat], at);
            else if (expire) await ctx.callWith('redis.expire', [name, expire], at);
          },
        });
      },
    }),
    absent: state({
      doc: 'Keys that must not exist.',
      examples: ['old:\n  redis.absent:\n    - keys: [colour, size]'],
      params: {
        name: p.string({ doc: 'the key, or any text' }),
        keys: p.oneOf(['list', 'string'], { default: null, doc: 'several keys' }),
        connection_args,
      },
      async run(args, ctx) {
        if (args.keys && !Array.isArray(args.keys)) return ctx.fail('`keys` not formed as a list type');
        const several = Array.isArray(args.keys) && args.keys.length > 0;
        const there: Value[] = [];
        for (const key of several ? (args.keys as Value[]) : [args.name])
          if (await ctx.callWith('redis.exists', [key], args.connection_args)) there.push(key);
        if (there.length === 0) return ctx.ok('Key(s) specified already absent');
        return ctx.change(newDict([['deleted', there]]), several ? 'Keys deleted' : 'Key deleted', {
          test: several ? 'Keys would be deleted' : 'Key would be deleted',
          apply: () => ctx.callWith('redis.delete', there, args.connection_args),
        });
      },
    }),
    slaveof: state({
      doc: 'A server that must be a replica of the primary with this name in the sentinels.',
      examples: ['mymaster:\n  redis.slaveof:\n    - sentinel_host: localhost'],
      params: {
        name: p.string({ doc: 'name of the primary' }),
        sentinel_host: p.scalar({ default: null, doc: 'address of a sentinel' }),
        sentinel_port: p.scalar({ default: null, doc: 'its port' }),
        sentinel_password: p.scalar({ default: null, doc: 'its password' }),
        connection_args,
      },
      async run(args, ctx) {
        const { name, connection_args: at } = args;
        const { sentinel_host, sentinel_port, sentinel_password } = args;
        const wanted = textKeyed(
          await ctx.call('redis.sentinel_get_master_ip', name, sentinel_host, sentinel_port, sentinel_password),
        );
        const own = await ctx.call('network.ip_addrs');
        if (Array.isArray(own) && own.includes(wanted['master_host'] ?? null))
          return ctx.ok(`Minion is the master: ${name}`);
        const isWanted = (found: Value): boolean =>
          ['master_host', 'master_port'].every(
            (key) => pyStr(textKeyed(found)[key] ?? '') === pyStr(wanted[key] ?? ''),
          );
        return resource(ctx, {
          find: () => ctx.callWith('redis.get_master_ip', [], at),
          compare: (found) => !isWanted(found),
          change: () => ctx.callWith('redis.slaveof', [], { ...at, ...wanted }),
          recheck: true,
          changes: ({ found, after }) => ({ old: found, new: after }),
          right: `Minion already slave of master: ${name}`,
          would: `Minion will be made a slave of ${name}: ${pyStr(wanted['master_host'] ?? '')}`,
          done: `Minion successfully connected to master: ${name}`,
          failed: 'Failed to setup slave',
        });
      },
    }),
  },
});
