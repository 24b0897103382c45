// State module `virt`: keys of libvirt, machines that are off, and storage pools.
import { dirname, join } from 'node:path';
import {
  type ArgsOf,
  type ChangeSet,
  changeSet,
  defineState,
  dictEntries,
  isTruthy,
  messageOf,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { isFile, mkdirSync, readText, replaceSecretNow } from 'halite/sdk/fs';
import { matchesGlob } from 'halite/sdk/text';
import { isExpected } from '../shared/calls.ts';

const places = (base: string): Record<string, string> => ({
  serverkey: join(base, 'libvirt/private/serverkey.pem'),
  servercert: join(base, 'libvirt/servercert.pem'),
  clientkey: join(base, 'libvirt/private/clientkey.pem'),
  clientcert: join(base, 'libvirt/clientcert.pem'),
  cacert: join(base, 'CA/cacert.pem'),
});

const keys = state({
  doc: 'Keys and certificates of libvirt, from the external pillar `libvirt` of the master.',
  examples: ['libvirt_keys:\n  virt.keys:\n    - expiration_days: 365'],
  params: {
    name: p.string({ doc: 'any name' }),
    basepath: p.path({ default: '/etc/pki', doc: 'destination folder' }),
    kwargs: p.kwargs({ doc: 'country, st, locality, organization, expiration_days of the certificates' }),
  },
  async run(args, ctx) {
    const wanted = newDict(dictEntries(args.kwargs).map(([key, value]) => [`ext_pillar_virt.${pyStr(key)}`, value]));
    const pillar = textKeyed(await ctx.call('pillar.ext', newDict([['libvirt', '_']]), wanted));
    const changes = newDict();
    const texts = new Map<string, string>();
    for (const [key, path] of Object.entries(places(args.basepath))) {
      const text = pillar[`libvirt.${key}.pem`];
      if (text === undefined || (isFile(path) && readText(path) === text)) continue;
      changes[key] = isFile(path) ? 'update' : 'new';
      texts.set(path, pyStr(text));
    }
    if (texts.size === 0) return ctx.ok('All keys are correct');
    return ctx.change(changes, 'Updated libvirt certs and keys', {
      test: 'Libvirt keys are set to be updated',
      testChanges: newDict(),
      apply() {
        for (const [path, text] of texts) {
          const secret = path.endsWith('key.pem');
          mkdirSync(dirname(path), { recursive: true });
          replaceSecretNow(path, text, secret ? 0o600 : 0o644);
        }
      },
    });
  },
});

const connection = {
  connection: p.scalar({ default: null, doc: 'address of the hypervisor' }),
  username: p.scalar({ default: null, doc: 'no effect' }),
  password: p.scalar({ default: null, doc: 'no effect' }),
};

interface Step {
  readonly fun: string;
  readonly section: string;
  readonly done: string;
  /** Machines that are already in this state are not changed. */
  readonly unless?: string;
}

/** Runs an action for every machine whose name matches. */
const toMachines = (pattern: string, step: Step, call: PlainDict, ctx: StateContext): Promise<StateResult> =>
  changeSet(ctx, {
    async each(set) {
      const changed: PlainDict[] = [];
      const ignored: PlainDict[] = [];
      const all = await ctx.call('virt.list_domains');
      const meant = (Array.isArray(all) ? all.map(pyStr) : []).filter((one) => matchesGlob(one, pattern));
      for (const domain of meant) {
        try {
          if (step.unless && textKeyed(await ctx.call('virt.vm_state', domain))[domain] === step.unless) continue;
          let said: Value = true;
          await set.part({
            async change() {
              said = await ctx.callWith(`virt.${step.fun}`, [domain], call);
            },
          });
          changed.push({ domain, [step.fun]: said });
        } catch (error) {
          if (!isExpected(error)) throw error;
          ignored.push({ domain, issue: messageOf(error) });
        }
      }
      if (changed.length > 0) set.changes[step.section] = changed;
      else if (ignored.length > 0) set.changes['ignored'] = ignored;
      set.ok = changed.length > 0 || (ignored.length === 0 && meant.length > 0);
    },
    right: 'No changes had happened',
    would: step.done,
    done: step.done,
  });

const machines = (doc: string, example: string, step: Step) =>
  state({
    doc,
    examples: [`web:\n  virt.${example}`],
    params: { name: p.string({ doc: 'the machine, or a pattern' }), ...connection },
    run: ({ name, ...call }, ctx) => toMachines(name, step, newDict(Object.entries(call)), ctx),
  });

const poolParams = {
  name: p.string({ doc: 'the pool' }),
  ptype: p.scalar({ default: null, doc: 'dir, fs, logical, netfs, …' }),
  target: p.scalar({ default: null, doc: 'folder or volume group' }),
  permissions: p.oneOf(['dict', 'list'], { default: null, doc: 'mode, owner, group, label' }),
  source: p.oneOf(['dict', 'list'], {
    default: null,
    doc: 'devices, dir, initiator, adapter, hosts, auth, name, format',
  }),
  transient: p.bool({ default: false, doc: 'remove the definition when it stops' }),
  autostart: p.bool({ default: true, doc: 'start it with the machine' }),
  ...connection,
};
type Pool = ArgsOf<typeof poolParams>;

const buildable = new Set(['disk', 'fs', 'netfs', 'dir', 'logical', 'vstorage', 'zfs']);
const callOf = ({ connection: to, username, password }: Pool): PlainDict =>
  newDict(Object.entries({ connection: to, username, password }));

function layoutOf(args: Pool): PlainDict {
  const source = textKeyed(args.source);
  const parts = ['devices', 'dir', 'initiator', 'adapter', 'hosts', 'auth', 'name', 'format'];
  const { ptype, target, permissions } = args;
  return newDict([
    ...Object.entries({ ptype, target, permissions }),
    ...parts.map((key): [string, Value] => [`source_${key}`, source[key] ?? null]),
    ...Object.entries(callOf(args)),
  ]);
}

/** A pool that is already built cannot be built again. */
async function build(args: Pool, ctx: StateContext): Promise<void> {
  try {
    await ctx.callWith('virt.pool_build', [args.name], callOf(args));
  } catch (error) {
    if (!isExpected(error)) throw error;
    ctx.log.warn(`Failed to build libvirt storage pool: ${messageOf(error)}`);
  }
}

interface Outcome {
  /** A description of the changes; empty when there are none. */
  readonly change: string;
  readonly comment: string;
}

async function define(args: Pool, set: ChangeSet, ctx: StateContext): Promise<Outcome> {
  const { name, autostart } = args;
  const layout = layoutOf(args);
  const info = textKeyed(textKeyed(await ctx.callWith('virt.pool_info', [name], callOf(args)))[name]);
  const isBuildable = buildable.has(pyStr(args.ptype));
  const setAutostart = (): Promise<void> =>
    set.run(() =>
      ctx.callWith('virt.pool_set_autostart', [name], { ...callOf(args), state: autostart ? 'on' : 'off' }),
    );
  if (Object.keys(info).length === 0) {
    await set.run(async () => {
      await ctx.callWith('virt.pool_define', [name], { ...layout, transient: args.transient, start: false });
      if (isBuildable) await build(args, ctx);
    });
    if (autostart) await setAutostart();
    const action = autostart ? 'defined, marked for autostart' : 'defined';
    return { change: `Pool ${action}`, comment: `Pool ${name} ${action}` };
  }
  const flag = isTruthy(info['autostart']) !== autostart;
  const differs = isTruthy(await ctx.callWith('virt.pool_update', [name], { ...layout, test: true }));
  let action = '';
  if (differs) {
    await set.run(() => ctx.callWith('virt.pool_update', [name], layout));
    if (info['state'] !== 'running' && isBuildable) {
      await set.run(() => build(args, ctx));
      action = ', built';
    }
  }
  if (flag) await setAutostart();
  if (!differs) return { change: '', comment: `Pool ${name} unchanged` };
  if (flag) action += ', autostart flag changed';
  return { change: `Pool updated${action}`, comment: `Pool ${name} updated${action}` };
}

/** Starts the pool, or restarts it after a change; returns a description. */
async function start(args: Pool, change: string, set: ChangeSet, ctx: StateContext): Promise<string> {
  const call = callOf(args);
  const info = textKeyed(textKeyed(await ctx.callWith('virt.pool_info', [args.name], call))[args.name]);
  const runs = info['state'] === 'running';
  const updated = change.startsWith('Pool updated');
  let action = runs ? 'already running' : 'started';
  if (runs && updated) {
    action = 'restarted';
    await set.run(() => ctx.callWith('virt.pool_stop', [args.name], call));
    if (buildable.has(pyStr(args.ptype)) && args.ptype !== 'disk' && args.ptype !== 'logical') {
      await set.run(() => ctx.callWith('virt.pool_build', [args.name], call));
      action = `built, ${action}`;
    }
  }
  if (!runs || change !== '') await set.run(() => ctx.callWith('virt.pool_start', [args.name], call));
  return action;
}

const pool = (running: boolean) =>
  state({
    doc: running ? 'A storage pool that is there and runs.' : 'A storage pool.',
    examples: [`images:\n  virt.pool_${running ? 'running' : 'defined'}:\n    - ptype: dir\n    - target: /srv/images`],
    params: poolParams,
    run: (args, ctx) =>
      changeSet(ctx, {
        async each(set) {
          const { change, comment } = await define(args, set, ctx);
          const action = running ? await start(args, change, set, ctx) : '';
          set.comments.push(running ? `${change ? `${comment},` : `Pool ${args.name}`} ${action}` : comment);
          const isStarted = running && action !== 'already running';
          if (change) set.changes[args.name] = change;
          if (isStarted) set.changes[args.name] = `${change ? `${change},` : 'Pool'} ${action}`;
          set.isChanged = running ? isStarted : change !== '';
        },
        error: (message) => message,
      }),
  });

export default defineState({
  name: 'virt',
  doc: 'Keys of libvirt, machines that are off, and storage pools.',
  available: needsFunction('virt.list_domains', 'virt module could not be loaded'),
  functions: {
    keys,
    stopped: machines('Machines that shall be shut down.', 'stopped', {
      fun: 'shutdown',
      section: 'stopped',
      done: 'Machine has been shut down',
      unless: 'shutdown',
    }),
    powered_off: machines('Machines whose power shall be cut.', 'powered_off', {
      fun: 'stop',
      section: 'unpowered',
      done: 'Machine has been powered off',
      unless: 'shutdown',
    }),
    rebooted: machines('Machines that are restarted.', 'rebooted', {
      fun: 'reboot',
      section: 'rebooted',
      done: 'Machine has been rebooted',
    }),
    pool_defined: pool(false),
    pool_running: pool(true),
  },
});
