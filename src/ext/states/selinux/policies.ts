// Contexts of files and ports in the policy: present, absent, applied.
import {
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyRepr,
  pyStr,
  resource,
  type StateContext,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';

const name = p.string({ doc: 'the path, which may be an expression' });
const filetype = p.string({ default: 'a', doc: 'kind of file, as a letter' });
const sel_user = p.string({ default: null, doc: 'user' });
const sel_level = p.string({ default: null, doc: 'level' });
const none = (value: Value): string => (value === null ? 'None' : pyStr(value));
const failed = (done: Value): boolean => textKeyed(done)['retcode'] !== 0;

export const fcontextPresent = state({
  doc: 'A rule of the policy for a path.',
  examples: ["'/srv/web(/.*)?':\n  selinux.fcontext_policy_present:\n    - sel_type: httpd_sys_content_t"],
  params: { name, sel_type: p.string({ doc: 'type' }), filetype, sel_user, sel_level },
  async run({ name, sel_type, filetype, sel_user, sel_level }, ctx) {
    const kind = pyStr(await ctx.call('selinux.filetype_id_to_string', filetype));
    const asked = newDict(Object.entries({ name, filetype, sel_type, sel_user, sel_level }));
    const found = await ctx.callWith('selinux.fcontext_get_policy', [], asked);
    const before = textKeyed(found);
    if (isTruthy(found) && before['sel_type'] === sel_type)
      return ctx.ok(
        `SELinux policy for "${name}" already present with specified filetype "${kind}" and sel_type "${sel_type}".`,
      );
    const old = isTruthy(found) ? newDict([[name, newDict([['sel_type', before['sel_type'] ?? null]])]]) : newDict();
    const now = isTruthy(found)
      ? newDict([['sel_type', sel_type]])
      : newDict(Object.entries({ filetype: kind, sel_type }));
    const changes = newDict(Object.entries({ old, new: newDict([[name, now]]) }));
    return ctx.change(changes, '', {
      test: '',
      testChanges: newDict(),
      async apply() {
        const done = await ctx.callWith('selinux.fcontext_add_policy', [], asked);
        return failed(done) ? ctx.fail(`Error adding new rule: ${pyRepr(done)}`) : undefined;
      },
    });
  },
});

export const fcontextAbsent = state({
  doc: 'A path without a rule in the policy.',
  examples: ["'/srv/web(/.*)?':\n  selinux.fcontext_policy_absent"],
  params: { name, filetype, sel_type: p.string({ default: null, doc: 'type' }), sel_user, sel_level },
  async run({ name, filetype, sel_type, sel_user, sel_level }, ctx) {
    const asked = newDict(Object.entries({ name, filetype, sel_type, sel_user, sel_level }));
    const found = await ctx.callWith('selinux.fcontext_get_policy', [], asked);
    if (!isTruthy(found))
      return ctx.ok(
        `SELinux policy for "${name}" already absent with specified filetype "${filetype}" and sel_type "${none(sel_type)}".`,
      );
    const changes = newDict(Object.entries({ old: newDict([[name, found]]), new: newDict() }));
    return ctx.change(changes, '', {
      test: '',
      async apply() {
        const exact = newDict([
          ...Object.entries(asked),
          ['sel_type', sel_type || (textKeyed(found)['sel_type'] ?? null)],
        ]);
        const done = await ctx.callWith('selinux.fcontext_delete_policy', [], exact);
        return failed(done) ? ctx.fail(`Error removing policy: ${pyRepr(done)}`, { changes }) : undefined;
      },
    });
  },
});

export const fcontextApplied = state({
  doc: 'Files that are labelled according to the policy.',
  examples: ['/srv/web:\n  selinux.fcontext_policy_applied:\n    - recursive: true'],
  params: { name, recursive: p.bool({ default: false, doc: 'and all below' }) },
  run: ({ name, recursive }, ctx) =>
    resource(ctx, {
      find: () => ctx.call('selinux.fcontext_policy_is_applied', name, recursive),
      compare: (left) => left !== '',
      change: async () => textKeyed(await ctx.call('selinux.fcontext_apply_policy', name, recursive)),
      problem: (done) => (failed(done) ? pyRepr(done) : undefined),
      changes: ({ answer }) => textKeyed(answer['changes']),
      right: `SElinux policies are already applied for filespec "${name}"`,
      would: '',
      done: '',
    }),
});

const portParams = {
  protocol: p.string({ default: null, doc: 'tcp or udp' }),
  port: p.string({ default: null, doc: 'port or range' }),
};
const portPolicy = (asked: PlainDict, ctx: StateContext): Promise<Value> =>
  ctx.callWith('selinux.port_get_policy', [], newDict(Object.entries(asked)));

export const portPresent = state({
  doc: 'A rule of the policy for a port.',
  examples: ['tcp/8080:\n  selinux.port_policy_present:\n    - sel_type: http_port_t'],
  params: {
    name: p.string({ doc: 'tcp/8080, or any name' }),
    sel_type: p.string({ doc: 'type' }),
    ...portParams,
    sel_range: p.string({ default: null, doc: 'range of levels' }),
  },
  run({ name, sel_type, protocol, port, sel_range }, ctx) {
    const asked = newDict(Object.entries({ name, sel_type, protocol, port }));
    return resource(ctx, {
      find: () => portPolicy(asked, ctx),
      async change({ found: old }) {
        const done = await ctx.callWith('selinux.port_add_policy', [], { ...asked, sel_range });
        if (failed(done)) return ctx.fail(`Error adding new policy: ${pyRepr(done)}`);
        return ctx.ok('', { changes: newDict(Object.entries({ old, new: await portPolicy(asked, ctx) })) });
      },
      right: `SELinux policy for "${name}" already present with specified sel_type "${sel_type}", protocol "${none(protocol)}" and port "${none(port)}".`,
      would: '',
    });
  },
});

export const portAbsent = state({
  doc: 'A port without a rule in the policy.',
  examples: ['tcp/8080:\n  selinux.port_policy_absent'],
  params: {
    name: p.string({ doc: 'tcp/8080, or any name' }),
    sel_type: p.string({ default: null, doc: 'type' }),
    ...portParams,
  },
  run({ name, sel_type, protocol, port }, ctx) {
    const asked = newDict(Object.entries({ name, sel_type, protocol, port }));
    return resource(ctx, {
      find: () => portPolicy(asked, ctx),
      wanted: false,
      async change({ found: old }) {
        const done = await ctx.callWith('selinux.port_delete_policy', [], { name, protocol, port });
        if (failed(done)) return ctx.fail(`Error deleting policy: ${pyRepr(done)}`);
        return ctx.ok('', { changes: newDict(Object.entries({ old, new: await portPolicy(asked, ctx) })) });
      },
      right: `SELinux policy for "${name}" already absent with specified sel_type "${none(sel_type)}", protocol "${none(protocol)}" and port "${none(port)}".`,
      would: '',
    });
  },
});
