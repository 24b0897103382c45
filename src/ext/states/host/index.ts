// State module `host`: names and addresses in /etc/hosts.
import { isIP } from 'node:net';
import {
  defineState,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { plain } from '../shared/calls.ts';

const texts = (value: Value): string[] => (Array.isArray(value) ? value.map(pyStr) : [pyStr(value)]);

interface Plan {
  readonly add: Set<string>;
  readonly remove: Set<string>;
  readonly comment: Set<string>;
  readonly comments: string[];
  readonly warnings: string[];
  ok: boolean;
}

/** What must be added, removed or commented to have a name at exactly these addresses. */
function planFor(name: string, ips: readonly string[], comment: string, clean: boolean, hosts: PlainDict): Plan {
  const plan: Plan = { add: new Set(), remove: new Set(), comment: new Set(), comments: [], warnings: [], ok: true };
  for (const ip of ips) {
    if (ip in hosts) continue;
    plan.add.add(ip);
    if (comment) plan.comment.add(ip);
  }
  for (const [ip, value] of Object.entries(hosts)) {
    const info = plain(value);
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

interface Step {
  readonly ips: Iterable<string>;
  readonly key: string;
  readonly item: string;
  readonly would: (ip: string) => string;
  readonly did: (ip: string) => string;
  readonly failed: (ip: string) => string;
  readonly call: (ip: string) => Promise<Value>;
}

async function carryOut(steps: readonly Step[], plan: Plan, ctx: StateContext): Promise<PlainDict> {
  const changes = newDict();
  for (const step of steps) {
    for (const ip of step.ips) {
      if (!ctx.test && !(await step.call(ip))) {
        plan.ok = false;
        plan.comments.push(step.failed(ip));
        continue;
      }
      plan.comments.push(ctx.test ? step.would(ip) : step.did(ip));
      changes[step.key] ??= newDict();
      (changes[step.key] as PlainDict)[ip] = [step.item];
    }
  }
  return changes;
}

const present = state({
  doc: 'A name in the hosts file, at one or several addresses.',
  examples: ['node1:\n  host.present:\n    - ip: 192.168.0.42'],
  params: {
    name: p.string({ doc: 'the name' }),
    ip: p.oneOf(['string', 'list'], { doc: 'address or list of addresses' }),
    comment: p.scalar({ default: '', nullable: true, doc: 'comment on the line' }),
    clean: p.bool({ default: false, doc: 'take the name from all other addresses' }),
  },
  async run({ name, ip, comment: given, clean }, ctx) {
    const comment = pyStr(given ?? '');
    const plan = planFor(name, texts(ip), comment, clean, plain(await ctx.call('hosts.list_hosts')));
    const host = (address: string): string => `${name} (${address})`;
    const changes = await carryOut(
      [
        {
          ips: plan.add,
          key: 'added',
          item: name,
          would: (a) => `Host ${host(a)} would be added`,
          did: (a) => `Added host ${host(a)}`,
          failed: (a) => `Failed to add host ${host(a)}`,
          call: (a) => ctx.call('hosts.add_host', a, name),
        },
        {
          ips: plan.comment,
          key: 'comment_added',
          item: comment,
          would: (a) => `Comment for ${a} (${comment}) would be added`,
          did: (a) => `Set comment for host ${a} (${comment})`,
          failed: (a) => `Failed to add comment for host ${a} (${comment})`,
          call: (a) => ctx.call('hosts.set_comment', a, comment),
        },
        {
          ips: plan.remove,
          key: 'removed',
          item: name,
          would: (a) => `Host ${host(a)} would be removed`,
          did: (a) => `Removed host ${host(a)}`,
          failed: (a) => `Failed to remove host ${host(a)}`,
          call: (a) => ctx.call('hosts.rm_host', a, name),
        },
      ],
      plan,
      ctx,
    );
    const would = ctx.test && Object.keys(changes).length > 0;
    const result: StateResult = ctx.result({
      result: would && plan.ok ? null : plan.ok,
      comment: plan.comments.join('\n'),
      changes,
    });
    if (plan.warnings.length > 0) result['warnings'] = plan.warnings;
    return result;
  },
});

const absent = state({
  doc: 'A name that an address shall not have.',
  examples: ['node1:\n  host.absent:\n    - ip: 192.168.0.42'],
  params: {
    name: p.string({ doc: 'the name' }),
    ip: p.oneOf(['string', 'list'], { doc: 'address or list of addresses' }),
  },
  async run({ name, ip }, ctx) {
    const comments: string[] = [];
    let [changed, ok] = [false, true];
    for (const address of texts(ip)) {
      if (!(await ctx.call('hosts.has_pair', address, name))) comments.push(`Host ${name} (${address}) already absent`);
      else if (ctx.test) {
        changed = true;
        comments.push(`Host ${name} (${address}) needs to be removed`);
      } else if (await ctx.call('hosts.rm_host', address, name)) {
        changed = true;
        comments.push(`Removed host ${name} (${address})`);
      } else {
        ok = false;
        comments.push('Failed to remove host');
      }
    }
    const changes = changed && !ctx.test ? newDict([['host', name]]) : newDict();
    return ctx.result({ result: changed && ctx.test ? null : ok, comment: comments.join('\n'), changes });
  },
});

const only = state({
  doc: 'An address that has exactly these names.',
  examples: ['127.0.1.1:\n  host.only:\n    - hostnames:\n      - foo.bar\n      - foo'],
  params: {
    name: p.string({ doc: 'the address' }),
    hostnames: p.oneOf(['string', 'list'], { doc: 'name or list of names' }),
  },
  async run({ name, hostnames }, ctx) {
    const old = texts(await ctx.call('hosts.get_alias', name)).join(' ');
    const now = texts(hostnames)
      .map((item) => item.trim())
      .join(' ');
    if (old === now) return ctx.ok(`IP address ${name} already set to "${now}"`);
    return ctx.change(
      newDict([
        [
          name,
          newDict([
            ['old', old],
            ['new', now],
          ]),
        ],
      ]),
      `successfully changed ${name} from "${old}" to "${now}"`,
      {
        test: `Would change ${name} from "${old}" to "${now}"`,
        testChanges: newDict(),
        async apply() {
          const done = await ctx.call('hosts.set_host', name, now);
          return done ? undefined : ctx.fail(`hosts.set_host failed to change ${name} from "${old}" to "${now}"`);
        },
      },
    );
  },
});

export default defineState({
  name: 'host',
  doc: 'Names and addresses in the hosts file.',
  functions: { present, absent, only },
});
