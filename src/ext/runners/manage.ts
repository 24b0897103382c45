// Runner `manage`: which minions answer, which are connected, which versions they run.
import { isIP } from 'node:net';
import {
  defineRunner,
  dictGet,
  HaliteError,
  type JobOutcome,
  type MasterContext,
  masterFn,
  newDict,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';
import { words } from './jobs/filter.ts';

const target = {
  tgt: p.oneOf(['string', 'list'], { default: '*', nullable: true, doc: 'the target' }),
  tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
  timeout: p.float({ default: null, doc: 'seconds to wait for minions that do not report on their own' }),
  gather_job_timeout: p.float({ default: null, doc: 'accepted for compatibility' }),
};
type TargetArgs = { readonly tgt: Value; readonly tgt_type: string; readonly timeout: number | null };

/** An empty list is a valid answer. */
async function askAll(ctx: MasterContext, fun: string, args: TargetArgs): Promise<JobOutcome> {
  const wait = args.timeout ? { timeoutSeconds: args.timeout } : {};
  return ctx.master
    .runJob({ tgt: args.tgt as string, tgt_type: args.tgt_type, fun, arg: [], ...wait })
    .catch((error: unknown) => {
      if (!(error instanceof HaliteError) || error.code !== 'target.empty') throw error;
      return { jid: '', minions: [], returns: {}, missing: {} };
    });
}

async function status(ctx: MasterContext, args: TargetArgs): Promise<{ up: string[]; down: string[] }> {
  const { minions, returns } = await askAll(ctx, 'test.ping', args);
  const up = minions.filter((id) => id in returns).sort();
  const down = minions.filter((id) => !(id in returns)).sort();
  return { up, down };
}

function connected(ctx: MasterContext, wanted: 'yes' | 'no'): string[] {
  return ctx.master.fleet
    .all()
    .filter((minion) => (wanted === 'yes' ? minion.connected === 'yes' : minion.connected !== 'yes'))
    .map((minion) => minion.id)
    .sort();
}

/** The remote address; if it is unknown, the first address in the minion's grains. */
async function addressOf(ctx: MasterContext, id: string): Promise<string> {
  const seen = ctx.master.fleet.status(id)?.address ?? '';
  const host = seen.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0) return host;
  const grains = await ctx.master.fleet.grains(id);
  const ipv4 = grains ? dictGet(grains, 'ipv4') : undefined;
  const own = Array.isArray(ipv4) ? ipv4.map(String) : [];
  return own.find((address) => !address.startsWith('127.')) ?? own[0] ?? '';
}

const presence = (doc: string, name: string, wanted: 'yes' | 'no') =>
  masterFn({
    doc,
    examples: [`salt-run manage.${name}`],
    params: {
      subset: p.oneOf(['string', 'list'], { default: null, falsy: null, doc: 'only of these ids' }),
      show_ip: p.bool({ default: false, doc: 'with the address of each; disconnected minions have none' }),
    },
    async run({ subset, show_ip }, ctx) {
      const among = words(subset);
      const ids = connected(ctx, wanted).filter((id) => !among || among.includes(id));
      if (!show_ip || wanted === 'no') return ids;
      return newDict(
        await Promise.all(ids.map(async (id): Promise<[string, Value]> => [id, await addressOf(ctx, id)])),
      );
    },
  });

export default defineRunner({
  name: 'manage',
  doc: 'Show which minions are up, down, connected or outdated.',
  functions: {
    status: masterFn({
      doc: 'Minions that answer and minions that do not.',
      examples: ['salt-run manage.status'],
      params: { output: p.bool({ default: true }), ...target },
      async run(args, ctx) {
        const { up, down } = await status(ctx, args);
        return newDict([
          ['up', up],
          ['down', down],
        ]);
      },
    }),
    up: masterFn({
      doc: 'Minions that answer.',
      examples: ['salt-run manage.up'],
      params: target,
      run: async (args, ctx) => (await status(ctx, args)).up,
    }),
    down: masterFn({
      doc: 'Minions that do not answer.',
      examples: ['salt-run manage.down', 'salt-run manage.down removekeys=True'],
      params: { removekeys: p.bool({ default: false, doc: 'delete the keys of those that do not answer' }), ...target },
      async run(args, ctx) {
        const { down } = await status(ctx, args);
        if (args.removekeys) await ctx.master.keys.remove(down);
        return down;
      },
    }),
    present: presence('Minions with a live connection.', 'present', 'yes'),
    not_present: presence('Accepted minions without a live connection.', 'not_present', 'no'),
    alived: presence('Minions with a live connection.', 'alived', 'yes'),
    not_alived: presence('Accepted minions without a live connection.', 'not_alived', 'no'),
    joined: presence('Minions with a live connection.', 'joined', 'yes'),
    not_joined: presence('Accepted minions without a live connection.', 'not_joined', 'no'),
    allowed: presence('Minions with a live connection.', 'allowed', 'yes'),
    not_allowed: presence('Accepted minions without a live connection.', 'not_allowed', 'no'),
    reaped: presence('Minions with a live connection.', 'reaped', 'yes'),
    not_reaped: presence('Accepted minions without a live connection.', 'not_reaped', 'no'),
    list_state: presence('Minions with a live connection.', 'list_state', 'yes'),
    list_not_state: presence('Accepted minions without a live connection.', 'list_not_state', 'no'),
    explain: masterFn({
      doc: 'Everything the master knows about a minion, and why it would be missing from a job now.',
      examples: ['salt-run manage.explain web1'],
      params: { minion: p.string({ doc: 'its id' }) },
      run: ({ minion }, ctx) => ctx.master.fleet.explain(minion),
    }),
    versions: masterFn({
      doc: 'Compare the version of each minion with the master.',
      examples: ['salt-run manage.versions'],
      params: target,
      run: (args, ctx) => versions(ctx, args),
    }),
  },
});

async function versions(ctx: MasterContext, args: TargetArgs): Promise<PlainDict> {
  const own = String(ctx.opts['saltversion'] ?? '3006.27');
  const { returns, missing } = await askAll(ctx, 'test.version', args);
  const groups = newDict();
  const put = (group: string, id: string, text: Value): void => {
    const known = (groups[group] as PlainDict | undefined) ?? newDict();
    known[id] = text;
    groups[group] = known;
  };
  const failed = Object.keys(returns).filter((id) => returns[id]?.retcode !== 0);
  for (const id of Object.keys(returns).sort()) {
    if (failed.includes(id)) continue;
    const text = String(returns[id]?.ret);
    if (saltPart(text) === saltPart(own)) put('Up to date', id, text);
    else put(newer(text, own) ? 'Minion newer than master' : 'Minion requires update', id, text);
  }
  for (const id of [...Object.keys(missing), ...failed].sort()) put('Minion offline', id, false);
  groups['Master'] = own;
  return groups;
}

/** The Salt release is the part of Halite's version before the plus sign. */
const saltPart = (version: string): string => version.split('+', 1)[0]!;

function newer(a: string, b: string): boolean {
  const parts = (text: string): number[] =>
    saltPart(text)
      .split(/[^\d]+/)
      .filter(Boolean)
      .map(Number);
  const [left, right] = [parts(a), parts(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}
