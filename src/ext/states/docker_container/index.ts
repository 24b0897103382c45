// State module `docker_container`: containers of Docker.
import {
  cleanKwargs,
  defineState,
  messageOf,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { resolveImage, running } from './running.ts';

const name = p.string({ doc: 'the container' });
const kwargs = p.kwargs({
  doc: 'options of the container: binds, port_bindings, ports, environment, command, restart_policy, network_mode, labels, links, …',
});
const common = {
  skip_translate: p.ignored({ default: null, doc: 'no effect' }),
  ignore_collisions: p.bool({ default: false, doc: 'no effect' }),
  validate_ip_addrs: p.bool({ default: true, doc: 'no effect' }),
};
const runningParams = {
  name,
  image: p.scalar({ default: null, doc: 'its image' }),
  ...common,
  force: p.bool({ default: false, doc: 'always replace it' }),
  watch_action: p.string({ default: 'force', doc: 'on a change of a watched state: force to replace it, or a signal' }),
  start: p.bool({ default: true, doc: 'whether it must run' }),
  shutdown_timeout: p.scalar({ default: null, doc: 'seconds until it is killed' }),
  client_timeout: p.ignored({ default: 60, doc: 'no effect' }),
  networks: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'networks it is in' }),
  kwargs,
};

interface RunArgs {
  readonly name: string;
  readonly image: Value;
  readonly bg: boolean;
  readonly failhard: boolean;
  readonly replace: boolean;
  readonly force: boolean;
  readonly kwargs: PlainDict;
}

async function runOnce(args: RunArgs, ctx: StateContext): Promise<StateResult> {
  const options = cleanKwargs(args.kwargs);
  const wrong = ['watch_action', 'start', 'shutdown_timeout', 'follow'].find((key) => key in options);
  if (wrong !== undefined) return ctx.fail(`The '${wrong}' argument is not supported`);
  if (args.image === null) return ctx.fail("The 'image' argument is required");
  const image = pyStr(args.image);
  const { rm, auto_remove, ...rest } = options;
  const removes = !args.bg && Boolean(rm ?? auto_remove);
  try {
    await resolveImage(image, newDict(), ctx);
  } catch (error) {
    return ctx.fail(messageOf(error));
  }
  return ctx.change(newDict(), '', {
    test: `Container would be run${args.bg ? ' in the background' : ''}`,
    async apply() {
      let changes: PlainDict;
      try {
        const { bg, replace, force } = args;
        const more: PlainDict = args.bg && auto_remove !== undefined ? { auto_remove } : {};
        changes = textKeyed(
          await ctx.callWith('docker.run_container', [image], {
            name: args.name,
            bg,
            replace,
            force,
            ...rest,
            ...more,
          }),
        );
      } catch (error) {
        return ctx.fail(`Encountered error running container: ${messageOf(error)}`);
      }
      if (removes && changes['Id']) await ctx.call('docker.rm', changes['Id']);
      if (args.bg) return ctx.ok('Container was run in the background', { changes });
      const code = changes['ExitCode'];
      if (code === undefined) return ctx.ok('', { changes });
      const result = !(args.failhard && code !== 0);
      return ctx.result({ result, comment: `Container ran and exited with a return code of ${pyStr(code)}`, changes });
    },
  });
}

interface StopArgs {
  readonly name: Value;
  readonly containers: Value;
  readonly shutdown_timeout: Value;
  readonly unpause: boolean;
  readonly error_on_absent: boolean;
}

async function statesOf(targets: readonly string[], ctx: StateContext): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const target of targets) {
    const now = pyStr(await ctx.call('docker.state', target).catch(() => 'absent'));
    found.set(now, [...(found.get(now) ?? []), target]);
  }
  return found;
}

async function stopped(args: StopArgs, ctx: StateContext): Promise<StateResult> {
  if (!args.name && !args.containers) return ctx.fail("One of 'name' and 'containers' must be provided");
  if (args.containers !== null && !Array.isArray(args.containers)) return ctx.fail('containers must be a list');
  const targets = (args.containers ?? [args.name]).map(pyStr);
  const found = await statesOf(targets, ctx);
  const [absent, paused] = [found.get('absent') ?? [], found.get('paused') ?? []];
  const errors = [
    ...(args.error_on_absent && absent.length > 0
      ? [`The following container(s) are absent: ${absent.join(', ')}`]
      : []),
    ...(!args.unpause && paused.length > 0 ? [`The following container(s) are paused: ${paused.join(', ')}`] : []),
  ];
  if (errors.length > 0) return ctx.fail(errors.join('. '));
  const toStop = [...(found.get('running') ?? []), ...paused];
  if (toStop.length === 0) {
    const who = targets.length === 1 ? `Container '${targets[0]}' is ` : 'All specified containers are ';
    return ctx.ok(`${who}${absent.length > 0 ? 'absent or ' : ''}not running`);
  }
  return ctx.change(newDict(), '', {
    test: `The following container(s) will be stopped: ${toStop.join(', ')}`,
    async apply() {
      const [changes, failed] = [newDict(), [] as string[]];
      for (const target of toStop) {
        const wait: PlainDict = args.shutdown_timeout ? { timeout: args.shutdown_timeout } : {};
        const done = textKeyed(await ctx.callWith('docker.stop', [target], { unpause: args.unpause, ...wait }));
        if (done['result'] === true) changes[target] = done;
        else failed.push(done['comment'] ? pyStr(done['comment']) : `Failed to stop container '${target}'`);
      }
      if (failed.length > 0) return ctx.fail(failed.join('; '), { changes });
      return ctx.ok(`The following container(s) were stopped: ${toStop.join(', ')}`, { changes });
    },
  });
}

function absent(target: string, force: boolean, ctx: StateContext): Promise<StateResult> {
  const isThere = async (): Promise<boolean> => {
    const all = await ctx.callWith('docker.list_containers', [], { all: true });
    return Array.isArray(all) && all.includes(target);
  };
  return resource(ctx, {
    find: async () => ((await isThere()) ? ctx.call('docker.state', target) : null),
    wanted: false,
    refuse: (now) =>
      now !== null && now !== 'stopped' && !force
        ? 'Container is running, set force to True to forcibly remove it'
        : undefined,
    async change({ found: before }) {
      const changes = newDict([['removed', await ctx.callWith('docker.rm', [target], { force })]]);
      if (await isThere()) return ctx.fail(`Failed to remove container '${target}'`, { changes });
      const how = force && before !== 'stopped' ? 'Forcibly' : 'Successfully';
      return ctx.ok(`${how} removed container '${target}'`, { changes });
    },
    right: `Container '${target}' does not exist`,
    would: `Container '${target}' will be removed`,
    error: (message, during) => (during === 'find' ? message : `Failed to remove container '${target}': ${message}`),
  });
}

export default defineState({
  name: 'docker_container',
  doc: 'Containers of Docker.',
  available: needsFunction('docker.version', 'docker module could not be loaded'),
  functions: {
    running: state({
      doc: 'A container that must exist with this image and these options, and run.',
      examples: [
        'web:\n  docker_container.running:\n    - image: nginx:1.25\n    - port_bindings: ["80:80"]\n    - binds: ["/srv/www:/usr/share/nginx/html:ro"]\n    - restart_policy: always',
      ],
      params: runningParams,
      run: (args, ctx) => running(args, ctx),
    }),
    run: state({
      doc: 'Runs a container once.',
      examples: [
        'migrate:\n  docker_container.run:\n    - image: shop:latest\n    - command: ./migrate\n    - rm: true',
      ],
      params: {
        name,
        image: p.scalar({ default: null, doc: 'its image' }),
        bg: p.bool({ default: false, doc: 'do not wait until it ends' }),
        failhard: p.bool({ default: true, doc: 'fail if the command fails' }),
        replace: p.bool({ default: false, doc: 'replace an existing one' }),
        force: p.bool({ default: false, doc: 'also of a running one' }),
        ...common,
        client_timeout: p.ignored({ default: 60, doc: 'no effect' }),
        kwargs,
      },
      run: runOnce,
    }),
    stopped: state({
      doc: 'Containers that must not run.',
      examples: ['old:\n  docker_container.stopped:\n    - containers: [web1, web2]'],
      params: {
        name: p.scalar({ default: null, doc: 'one container' }),
        containers: p.oneOf(['list', 'string'], { default: null, doc: 'several containers' }),
        shutdown_timeout: p.scalar({ default: null, doc: 'seconds until they are killed' }),
        unpause: p.bool({ default: false, doc: 'also paused ones' }),
        error_on_absent: p.bool({ default: true, doc: 'fail if one does not exist' }),
        kwargs: p.kwargs({ doc: 'no effect' }),
      },
      run: stopped,
    }),
    absent: state({
      doc: 'A container that must not exist.',
      examples: ['web:\n  docker_container.absent:\n    - force: true'],
      params: { name, force: p.bool({ default: false, doc: 'also a running one' }) },
      run: (args, ctx) => absent(args.name, args.force, ctx),
    }),
  },
  modWatch: state({
    doc: 'Replaces the container, or sends it a signal (watch_action).',
    params: runningParams,
    run(args, ctx) {
      const what = ctx.watchedFunction;
      if (what !== 'running' && what !== undefined) return ctx.fail(`watch requisite is not implemented for ${what}`);
      const byForce = args.watch_action === 'force';
      const more = byForce ? args.kwargs : newDict([...Object.entries(args.kwargs), ['send_signal', true]]);
      return running({ ...args, force: byForce, kwargs: more }, ctx);
    },
  }),
});
