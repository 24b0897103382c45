// State module `host`: names and addresses in /etc/hosts.
import { isIP } from 'node:net';
import { changeSet, defineState, type PlainDict, p, pyStr, resource, state, textKeyed, type Value } from 'halite/sdk';

const texts = (value: Value): string[] => (Array.isArray(value) ? value.map(pyStr) : [pyStr(value)]);

interface Plan {
  readonly add: Set<string>;
  readonly remove: Set<string>;
  readonly comment: Set<string>;
  readonly comments: string[];
  readonly warnings: string[];
  ok: boolean;
}

/** The additions, removals and comments needed so that a name has exactly these addresses. */
function planFor(name: string, ips: readonly string[], comment: string, clean: boolean, hosts: PlainDict): Plan {
  const plan: Plan = { add: new Set(), remove: new Set(), comment: new Set(), comments: [], warnings: [], ok: true };
  for (const ip of ips) {
    if (ip in hosts) continue;
    plan.add.add(ip);
    if (comment) plan.comment.add(ip);
  }
  for (const [ip, value] of Object.entries(hosts)) {
    const info = textKeyed(value);
    const has = texts(info['aliases'] ?? []).includes(name);
    if (!ips.includes(ip)) {
      if (has && clean) plan.remove.add(ip);
      else if (has) {
        const advice = `either run this state with 'clean' set to True to remove ${name} from ${ip}, or add ${ip} to the 'ip' argument.`;
        plan.warnings.push(`Host ${name} present for IP address ${ip}. To get rid of this warning, ${advice}`);
      }
    } else if (has) {
      if (comment && info['comment'] !== comment) plan.comment.add(ip);
      else plan.comments.push(`Host ${name} (${ip}) already present`);
    } else if (isIP(ip.split('/')[0] ?? '') > 0) {
      plan.add.add(ip);
      if (comment) plan.comment.add(ip);
    } else {
      plan.ok = false;
      plan.comments.push(`Invalid IP Address for ${name} (${ip})`);
    }
  }
  return plan;
}

const present = state({
  doc: 'A name in the hosts file, at one or several addresses.',
  examples: ['node1:\n  host.present:\n    - ip: 192.168.0.42'],
  params: {
    name: p.string({ doc: 'the name' }),
    ip: p.oneOf(['string', 'list'], { doc: 'address or list of addresses' }),
    comment: p.scalar({ default: '', nullable: true, doc: 'comment on the line' }),
    clean: p.bool({ default: false, doc: 'remove the name from all other addresses' }),
  },
  async run({ name, ip, comment: given, clean }, ctx) {
    const comment = pyStr(given ?? '');
    const plan = planFor(name, texts(ip), comment, clean, textKeyed(await ctx.call('hosts.list_hosts')));
    return changeSet(ctx, {
      async each(set) {
        set.comments.push(...plan.comments);
        set.ok = plan.ok;
        const noted = (key: string, ip: string, item: string): PlainDict => ({
          [key]: { ...textKeyed(set.changes[key]), [ip]: [item] },
        });
        for (const a of plan.add)
          await set.part({
            changes: noted('added', a, name),
            change: () => ctx.call('hosts.add_host', a, name),
            would: `Host ${name} (${a}) would be added`,
            done: `Added host ${name} (${a})`,
            failed: `Failed to add host ${name} (${a})`,
          });
        for (const a of plan.comment)
          await set.part({
            changes: noted('comment_added', a, comment),
            change: () => ctx.call('hosts.set_comment', a, comment),
            would: `Comment for ${a} (${comment}) would be added`,
            done: `Set comment for host ${a} (${comment})`,
            failed: `Failed to add comment for host ${a} (${comment})`,
          });
        for (const a of plan.remove)
          await set.part({
            changes: noted('removed', a, name),
            change: () => ctx.call('hosts.rm_host', a, name),
            would: `Host ${name} (${a}) would be removed`,
            done: `Removed host ${name} (${a})`,
            failed: `Failed to remove host ${name} (${a})`,
          });
      },
      extra: plan.warnings.length > 0 ? { warnings: plan.warnings } : {},
    });
  },
});

const absent = state({
  doc: 'A name that an address must not have.',
  examples: ['node1:\n  host.absent:\n    - ip: 192.168.0.42'],
  params: {
    name: p.string({ doc: 'the name' }),
    ip: p.oneOf(['string', 'list'], { doc: 'address or list of addresses' }),
  },
  run: ({ name, ip }, ctx) =>
    changeSet(ctx, {
      async each(set) {
        for (const address of texts(ip)) {
          if (!(await ctx.call('hosts.has_pair', address, name)))
            set.comments.push(`Host ${name} (${address}) already absent`);
          else
            await set.part({
              changes: { host: name },
              change: () => ctx.call('hosts.rm_host', address, name),
              would: `Host ${name} (${address}) needs to be removed`,
              done: `Removed host ${name} (${address})`,
              failed: 'Failed to remove host',
            });
        }
      },
      hidden: true,
    }),
});

const only = state({
  doc: 'An address that has exactly these names.',
  examples: ['127.0.1.1:\n  host.only:\n    - hostnames:\n      - foo.bar\n      - foo'],
  params: {
    name: p.string({ doc: 'the address' }),
    hostnames: p.oneOf(['string', 'list'], { doc: 'name or list of names' }),
  },
  run({ name, hostnames }, ctx) {
    const now = texts(hostnames)
      .map((item) => item.trim())
      .join(' ');
    return resource(ctx, {
      find: async () => texts(await ctx.call('hosts.get_alias', name)).join(' '),
      compare: (old) => old !== now,
      change: () => ctx.call('hosts.set_host', name, now),
      changes: ({ found: old }) => ({ [name]: { old, new: now } }),
      right: `IP address ${name} already set to "${now}"`,
      would: ({ found: old }) => `Would change ${name} from "${old}" to "${now}"`,
      done: ({ found: old }) => `successfully changed ${name} from "${old}" to "${now}"`,
      failed: ({ found: old }) => `hosts.set_host failed to change ${name} from "${old}" to "${now}"`,
    });
  },
});

export default defineState({
  name: 'host',
  doc: 'Names and addresses in the hosts file.',
  functions: { present, absent, only },
});
