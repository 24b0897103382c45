// State module `nfs_export`: folders shared with other machines.
import { defineState, newDict, p, pyEquals, pyStr, resource, state, textKeyed, type Value } from 'halite/sdk';
import { which } from 'halite/sdk/system';

const name = p.path({ doc: 'the folder' });
const file = p.path({ default: '/etc/exports', doc: 'the file' });

const present = state({
  doc: 'An export for exactly these clients.',
  examples: ['/srv/share:\n  nfs_export.present:\n    - hosts: 10.0.2.0/24\n    - options: [rw]'],
  params: {
    name,
    clients: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'list of {hosts, options}' }),
    hosts: p.oneOf(['string', 'list'], { default: null, doc: 'the only client' }),
    options: p.oneOf(['list', 'string'], { default: null, doc: 'its options' }),
    exports: file,
  },
  async run({ name, clients, hosts, options, exports }, ctx) {
    if (!clients && !hosts) return ctx.fail("Either 'clients' or 'hosts' must be defined");
    const wanted: Value[] =
      Array.isArray(clients) && clients.length > 0 ? clients : [newDict(Object.entries({ hosts, options }))];
    return resource(ctx, {
      find: async () => textKeyed(await ctx.call('nfs3.list_exports', exports))[name] ?? null,
      compare: (old) => old === null || !pyEquals(old, wanted),
      async change({ found: old }) {
        if (old !== null) await ctx.call('nfs3.del_export', exports, name);
        for (const client of wanted.map(textKeyed))
          await ctx.call('nfs3.add_export', exports, name, client['hosts'] ?? null, client['options'] ?? null);
        const loaded = textKeyed(await ctx.call('nfs3.reload_exports'));
        const changes = newDict(Object.entries({ old, new: wanted }));
        return ctx.result({ result: loaded['result'], comment: pyStr(loaded['stderr'] ?? ''), changes });
      },
      testChanges: ({ found }) => ({ old: found, new: wanted }),
      right: `Export ${name} already configured`,
      would: ({ found }) => `Export ${name} would be ${found === null ? 'added' : 'changed'}`,
    });
  },
});

const absent = state({
  doc: 'A folder that must not be exported.',
  examples: ['/srv/share:\n  nfs_export.absent'],
  params: { name, exports: file },
  run: ({ name, exports }, ctx) =>
    resource(ctx, {
      find: async () => textKeyed(await ctx.call('nfs3.list_exports', exports))[name] ?? null,
      compare: (old) => old !== null,
      async change({ found }) {
        await ctx.call('nfs3.del_export', exports, name);
        const loaded = textKeyed(await ctx.call('nfs3.reload_exports'));
        const comment = loaded['result'] ? `Export ${name} removed` : pyStr(loaded['stderr'] ?? '');
        return ctx.result({ result: loaded['result'], comment, changes: newDict([[name, found]]) });
      },
      testChanges: ({ found }) => ({ [name]: found }),
      right: `Export ${name} already absent`,
      would: `Export ${name} would be removed`,
    }),
});

export default defineState({
  name: 'nfs_export',
  doc: 'NFS exports.',
  available: () =>
    which('exportfs') !== null || 'The nfs_exports state module failed to load: the exportfs binary is not in the path',
  functions: { present, absent },
});
