// Execution module `service`: services of machines that run systemd.
import {
  commandError,
  defineModule,
  dictOf,
  fn,
  isProxyMinion,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';
import { askTool, requireTool, runTool, which } from 'halite/sdk/system';
import { lines, matchesGlob, words } from 'halite/sdk/text';
import { readingServices, readingUnits } from '../shared/service-functions.ts';
import {
  type CallOptions,
  daemonReload,
  isAvailable,
  isBooted,
  isOffline,
  noticeChanges,
  offlineTool,
  systemctl,
  withoutScope,
} from './systemctl.ts';
import { allServices, initScripts, isLinked, isMasked, scriptEnabled, shortName, sorted } from './units.ts';

async function unmask(name: string, runtime: boolean, root: string | null, ctx: ModuleContext): Promise<boolean> {
  await noticeChanges(name, ctx);
  if (!isMasked(name, runtime, root)) return true;
  const { retcode } = await systemctl(ctx, ['unmask', ...(runtime ? ['--runtime'] : [])], name, {
    scope: true,
    root,
    merge: true,
  });
  if (retcode !== 0) throw commandError(`Failed to unmask service '${name}'`);
  return true;
}

interface ActArgs {
  readonly name: string;
  readonly unmask?: boolean;
  readonly unmask_runtime?: boolean;
}

async function act(verb: string, args: ActArgs, options: CallOptions, ctx: ModuleContext): Promise<boolean> {
  await noticeChanges(args.name, ctx);
  if (args.unmask) await unmask(args.name, false, options.root ?? null, ctx);
  if (args.unmask_runtime) await unmask(args.name, true, options.root ?? null, ctx);
  const { retcode, stderr } = await systemctl(ctx, [verb], args.name, { scope: true, ...options });
  if (retcode !== 0) throw commandError(withoutScope(stderr));
  return true;
}

/** The minion must not wait for its own end. */
const noBlockFor = (name: string, noBlock: boolean | null): boolean =>
  noBlock === null ? ['salt-minion', 'salt-minion.service'].includes(name) : Boolean(noBlock);

/** Unit files in a state, by their short names. */
async function unitsInState(state: string, root: string | null, ctx: ModuleContext): Promise<string[]> {
  const { stdout } = await systemctl(ctx, ['--full', '--no-legend', '--no-pager', 'list-unit-files'], null, { root });
  return lines(stdout)
    .map(words)
    .filter((columns) => columns[1] === state)
    .flatMap((columns) => shortName(columns[0] ?? '') ?? []);
}

async function isEnabled(name: string, root: string | null, ctx: ModuleContext): Promise<boolean> {
  if ((await systemctl(ctx, ['is-enabled'], name, { root })).retcode === 0) return true;
  if (name.includes('@')) return isLinked(name);
  return initScripts(root).includes(name) && scriptEnabled(name, root);
}

/** Init scripts are enabled and disabled by the tool of the distribution. */
async function switchScript(name: string, on: boolean, ctx: ModuleContext): Promise<boolean> {
  if (which('update-rc.d')) {
    return (await askTool(ctx, 'update-rc.d', ['-f', name, ...(on ? ['defaults', '99'] : ['remove'])])).retcode === 0;
  }
  if (which('chkconfig')) return (await askTool(ctx, 'chkconfig', [name, on ? 'on' : 'off'])).retcode === 0;
  throw commandError('Unable to find sysv service manager (tried update-rc.d, chkconfig)');
}

/** Properties of a unit; lists for dependencies, a dictionary for structured ones. */
export function parseShow(text: string): PlainDict {
  const found = newDict();
  for (const line of lines(text)) {
    const at = line.indexOf('=');
    if (at < 0) continue;
    const [name, value] = [line.slice(0, at), line.slice(at + 1)];
    if (value.startsWith('{')) {
      const inner = value
        .replace(/[{}]/g, '')
        .split(' ; ')
        .map((item) => item.split('='));
      found[name] = newDict(inner.map(([key = '', part = '']) => [key.trim(), part.trim()]));
    } else found[name] = ['Before', 'After', 'Wants'].includes(name) ? words(value) : value;
  }
  return found;
}

async function show(name: string, root: string | null, ctx: ModuleContext): Promise<PlainDict> {
  const { retcode, stdout } = await systemctl(ctx, ['show'], name, { root });
  ctx.setRetcode(retcode);
  return parseShow(stdout);
}

const name = p.string({ doc: 'the service; other units with their ending' });
const root = p.string({ default: null, doc: 'folder of another system' });
const blocking = p.truthy({ default: false, nullable: true, doc: 'do not wait until it is done' });
const unmaskParams = {
  unmask: p.bool({ default: false, doc: 'unmask it first' }),
  unmask_runtime: p.bool({ default: false, doc: 'unmask it first, until the next boot' }),
};
const listOf = (
  what: string,
  key: string,
  run: (folder: string | null, ctx: ModuleContext) => Promise<string[]> | string[],
) =>
  fn({
    doc: `Names of ${what}, sorted.`,
    examples: [`salt '*' service.${key}`],
    params: { root },
    run: (args, ctx) => run(args.root, ctx),
  });

const acting = {
  start: fn({
    doc: 'Starts a service.',
    examples: ["salt '*' service.start <service name>"],
    params: { name, no_block: blocking, ...unmaskParams },
    run: (args, ctx) => act('start', args, { noBlock: Boolean(args.no_block) }, ctx),
  }),
  stop: fn({
    doc: 'Stops a service.',
    examples: ["salt '*' service.stop <service name>"],
    params: {
      name,
      no_block: p.truthy({ default: null, nullable: true, doc: 'do not wait; the default only for the minion itself' }),
    },
    async run(args, ctx) {
      await noticeChanges(args.name, ctx);
      const { retcode } = await systemctl(ctx, ['stop'], args.name, {
        scope: true,
        noBlock: noBlockFor(args.name, args.no_block),
      });
      ctx.setRetcode(retcode);
      return retcode === 0;
    },
  }),
  restart: fn({
    doc: 'Stops and starts a service.',
    examples: ["salt '*' service.restart <service name>"],
    params: {
      name,
      no_block: p.truthy({ default: null, nullable: true, doc: 'do not wait; the default only for the minion itself' }),
      ...unmaskParams,
    },
    run: (args, ctx) => act('restart', args, { noBlock: noBlockFor(args.name, args.no_block) }, ctx),
  }),
  reload: fn({
    doc: 'Makes a service read its configuration.',
    examples: ["salt '*' service.reload <service name>"],
    params: { name, no_block: blocking, ...unmaskParams },
    run: (args, ctx) => act('reload', args, { noBlock: Boolean(args.no_block) }, ctx),
  }),
  force_reload: fn({
    doc: 'Makes a service read its configuration, or restarts it when it cannot.',
    examples: ["salt '*' service.force_reload <service name>"],
    params: {
      name,
      no_block: p.truthy({ default: true, nullable: true, doc: 'do not wait until it is done' }),
      ...unmaskParams,
    },
    run: (args, ctx) => act('force-reload', args, { noBlock: Boolean(args.no_block) }, ctx),
  }),
  enable: fn({
    doc: 'Enables a service at boot.',
    examples: ["salt '*' service.enable <service name>"],
    params: { name, no_block: blocking, ...unmaskParams, root, kwargs: p.kwargs() },
    run: (args, ctx) =>
      initScripts(args.root).includes(args.name)
        ? switchScript(args.name, true, ctx)
        : act('enable', args, { noBlock: Boolean(args.no_block), root: args.root }, ctx),
  }),
  disable: fn({
    doc: 'Disables a service at boot.',
    examples: ["salt '*' service.disable <service name>"],
    params: { name, no_block: blocking, root, kwargs: p.kwargs() },
    async run(args, ctx) {
      await noticeChanges(args.name, ctx);
      if (initScripts(args.root).includes(args.name)) return switchScript(args.name, false, ctx);
      const options = { scope: true, noBlock: Boolean(args.no_block), root: args.root };
      return (await systemctl(ctx, ['disable'], args.name, options)).retcode === 0;
    },
  }),
  mask: fn({
    doc: 'Masks a service, so that it cannot be started.',
    examples: ["salt '*' service.mask foo", "salt '*' service.mask foo runtime=True"],
    params: { name, runtime: p.bool({ default: false, doc: 'until the next boot' }), root },
    async run(args, ctx) {
      await noticeChanges(args.name, ctx);
      const verb = ['mask', ...(args.runtime ? ['--runtime'] : [])];
      const { retcode } = await systemctl(ctx, verb, args.name, { scope: true, root: args.root, merge: true });
      if (retcode !== 0) throw commandError(`Failed to mask service '${args.name}'`);
      return true;
    },
  }),
  unmask: fn({
    doc: 'Undoes service.mask.',
    examples: ["salt '*' service.unmask foo"],
    params: { name, runtime: p.bool({ default: false }), root },
    run: (args, ctx) => unmask(args.name, args.runtime, args.root, ctx),
  }),
  systemctl_reload: fn({
    doc: 'Makes systemd read unit files again.',
    examples: ["salt '*' service.systemctl_reload"],
    run: (_, ctx) => daemonReload(ctx),
  }),
  firstboot: fn({
    doc: 'Runs systemd-firstboot.',
    examples: ["salt '*' service.firstboot keymap=jp locale=en_US.UTF-8"],
    params: {
      locale: p.string({ default: null }),
      locale_message: p.string({ default: null }),
      keymap: p.string({ default: null }),
      timezone: p.string({ default: null }),
      hostname: p.string({ default: null }),
      machine_id: p.string({ default: null }),
      root,
    },
    async run(args, ctx) {
      requireTool('systemd-firstboot');
      const options: [string, string | null][] = [
        ['locale', args.locale],
        ['locale-message', args.locale_message],
        ['keymap', args.keymap],
        ['timezone', args.timezone],
        ['hostname', args.hostname],
        ['machine-ID', args.machine_id],
        ['root', args.root],
      ];
      const given = options.flatMap(([option, value]) => (value ? [`--${option}`, value] : []));
      const { retcode, stderr } = await runTool(ctx, 'systemd-firstboot', given);
      if (retcode !== 0) throw commandError(`systemd-firstboot error: ${stderr.trim()}`);
      return true;
    },
  }),
};

const asking = {
  status: fn({
    doc: 'Whether a service runs; for a glob a dictionary of services.',
    examples: ["salt '*' service.status <service name>"],
    params: { name, sig: p.ignored({ default: null, doc: 'accepted' }) },
    async run(args, ctx) {
      const running = async (service: string): Promise<boolean> => {
        await noticeChanges(service, ctx);
        return (await systemctl(ctx, ['is-active'], service)).retcode === 0;
      };
      if (!/\*|\?|\[.+\]/.test(args.name)) return running(args.name);
      const found: [Value, Value][] = [];
      for (const service of allServices(null).filter((unit) => matchesGlob(unit, args.name)))
        found.push([service, await running(service)]);
      return dictOf(found);
    },
  }),
  available: fn({
    doc: 'Whether a service exists.',
    examples: ["salt '*' service.available sshd"],
    params: { name },
    async run(args, ctx) {
      await noticeChanges(args.name, ctx);
      return isAvailable(args.name, ctx);
    },
  }),
  missing: fn({
    doc: 'Whether a service does not exist.',
    examples: ["salt '*' service.missing sshd"],
    params: { name },
    async run(args, ctx) {
      await noticeChanges(args.name, ctx);
      return !(await isAvailable(args.name, ctx));
    },
  }),
  enabled: fn({
    doc: 'Whether a service starts at boot.',
    examples: ["salt '*' service.enabled <service name>"],
    params: { name, root, kwargs: p.kwargs() },
    run: (args, ctx) => isEnabled(args.name, args.root, ctx),
  }),
  disabled: fn({
    doc: 'Whether a service does not start at boot.',
    examples: ["salt '*' service.disabled <service name>"],
    params: { name, root },
    run: async (args, ctx) => !(await isEnabled(args.name, args.root, ctx)),
  }),
  masked: fn({
    doc: 'Whether a service is masked.',
    examples: ["salt '*' service.masked foo"],
    params: { name, runtime: p.bool({ default: false }), root },
    run: (args) => isMasked(args.name, args.runtime, args.root),
  }),
  show: fn({
    doc: 'All properties of a unit.',
    examples: ["salt '*' service.show <service name>"],
    params: { name, root },
    run: (args, ctx) => show(args.name, args.root, ctx),
  }),
  execs: fn({
    doc: 'Services and the program each starts.',
    examples: ["salt '*' service.execs"],
    params: { root },
    async run(args, ctx) {
      const found = newDict();
      for (const service of allServices(args.root)) {
        const start = (await show(service, args.root, ctx))['ExecStart'];
        if (start && typeof start === 'object' && 'path' in start) found[service] = start['path'] as Value;
      }
      return found;
    },
  }),
  get_all: listOf('all services', 'get_all', (folder) => allServices(folder)),
  get_enabled: listOf('services that start at boot', 'get_enabled', async (folder, ctx) =>
    sorted([
      ...(await unitsInState('enabled', folder, ctx)),
      ...initScripts(folder).filter((script) => scriptEnabled(script, folder)),
    ]),
  ),
  get_disabled: listOf('services that do not start at boot', 'get_disabled', async (folder, ctx) =>
    sorted([
      ...(await unitsInState('disabled', folder, ctx)),
      ...initScripts(folder).filter((script) => !scriptEnabled(script, folder)),
    ]),
  ),
  get_static: listOf('services that only others start', 'get_static', async (folder, ctx) =>
    sorted(await unitsInState('static', folder, ctx)),
  ),
  get_running: fn({
    doc: 'Names of running services, sorted.',
    examples: ["salt '*' service.get_running"],
    async run(_, ctx) {
      const { stdout } = await systemctl(ctx, ['--full', '--no-legend', '--no-pager'], null);
      const rows = lines(stdout).map((line) => words(line.replace('●', ' ')));
      return sorted(
        rows.filter((columns) => columns[3] === 'running').flatMap((columns) => shortName(columns[0] ?? '') ?? []),
      );
    },
  }),
  offline: fn({
    doc: 'The path of systemctl if systemd does not run and systemctl works on files only, otherwise False.',
    examples: ["salt '*' service.offline"],
    run: () => (isBooted() && !isOffline() ? false : offlineTool()),
  }),
};

/** Functions that exist only with systemd; Salt also offers them beside init scripts. */
export const unitFunctions = {
  mask: acting.mask,
  unmask: acting.unmask,
  systemctl_reload: acting.systemctl_reload,
  firstboot: acting.firstboot,
  masked: asking.masked,
  show: asking.show,
  execs: asking.execs,
  get_static: asking.get_static,
  get_running: asking.get_running,
  offline: asking.offline,
};

export default defineModule({
  name: 'systemd_service',
  virtualName: 'service',
  doc: 'Services of machines that run systemd.',
  available: ({ opts }) =>
    (!isProxyMinion(opts) && process.platform === 'linux' && (isBooted() || isOffline())) ||
    'The systemd execution module failed to load: only available on Linux systems which have been booted with systemd.',
  reads: [...readingServices, ...readingUnits],
  functions: { ...acting, ...asking },
});
