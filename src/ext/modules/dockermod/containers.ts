// Creates, compares, starts and stops containers.
import { fn, isDict, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';
import { lines } from 'halite/sdk/text';
import { ask, changeState, docker, inspect, listed, plainOf, stateOf, texts } from './cli.ts';
import { createArgs } from './create-args.ts';

const name = p.string({ doc: 'the container' });
const image = p.string({ doc: 'the image' });
const timeout = p.string({ default: null, doc: 'seconds until it is killed' });
const kwargs = p.kwargs({ doc: 'options of the container' });
const common = {
  skip_translate: p.ignored({ default: null, doc: 'no effect' }),
  ignore_collisions: p.bool({ default: false, doc: 'no effect' }),
  validate_ip_addrs: p.bool({ default: true, doc: 'no effect' }),
  client_timeout: p.ignored({ default: 60, doc: 'no effect' }),
};

async function create(of: string, called: string | null, options: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const naming = called ? ['--name', pyStr(called)] : [];
  const id = (await docker(['container', 'create', ...naming, ...createArgs(of, options)], ctx)).trim();
  const made = pyStr((await inspect('container', id, ctx))['Name'] ?? id).replace(/^\//, '');
  return newDict([
    ['Id', id],
    ['Name', made],
  ]);
}

/** Lists whose order has no meaning. */
const unordered = ['Env', 'Ulimits', 'Links', 'Binds', 'CapAdd', 'CapDrop', 'SecurityOpt'];

function settled(key: string, value: Value | undefined): Value {
  if (value === undefined || value === '' || value === 0 || value === false) return null;
  if (Array.isArray(value)) {
    if (value.length === 0) return null;
    // Docker shows a link with the names of both containers; only the last parts can be compared.
    const list = key === 'Links' ? value.map((item) => pyStr(item).replace(/[^:]*\//g, '')) : value;
    return unordered.includes(key) ? [...list].map((item) => dumpJson(item)).sort() : list;
  }
  return isDict(value) && Object.keys(value).length === 0 ? null : value;
}

/** Where two containers differ: part → key → old and new. */
export function differences(first: PlainDict, second: PlainDict, ignore: readonly string[]): PlainDict {
  const found = newDict();
  for (const part of ['Config', 'HostConfig']) {
    const [a, b] = [plainOf(first[part]), plainOf(second[part])];
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      if (ignore.includes(key) || key === 'Image') continue;
      if (dumpJson(settled(key, a[key])) === dumpJson(settled(key, b[key]))) continue;
      const section = plainOf(found[part]);
      section[key] = newDict([
        ['old', a[key] ?? null],
        ['new', b[key] ?? null],
      ]);
      found[part] = section;
    }
  }
  return found;
}

async function remove(
  which: string,
  options: { force: boolean; volumes: boolean; stop: boolean; timeout: Value },
  ctx: ModuleContext,
) {
  const id = pyStr((await inspect('container', which, ctx))['Id'] ?? '');
  if (options.stop && (await stateOf(which, ctx)) !== 'stopped')
    await docker(
      ['container', 'stop', ...(options.timeout === null ? [] : ['--time', pyStr(options.timeout)]), which],
      ctx,
    );
  const words = [...(options.force ? ['--force'] : []), ...(options.volumes ? ['--volumes'] : [])];
  await docker(['container', 'rm', ...words, which], ctx);
  return [id];
}

const change = (verb: string, expected: string, doc: string) =>
  fn({
    doc,
    examples: [`salt myminion docker.${verb} mycontainer`],
    params: { name },
    run: (args, ctx) => changeState(args.name, [verb], expected, ctx),
  });

const inContainer = (output: 'stdout' | 'stderr' | 'retcode' | 'all', label: string, doc: string) =>
  fn({
    doc,
    examples: [`salt myminion docker.${label} mycontainer 'ls -l /etc'`],
    params: { name, cmd: p.string({ doc: 'the command' }), kwargs: p.kwargs({ doc: 'no effect' }) },
    async run(args, ctx) {
      const said = (await ctx.callWith('cmd.run_all', [['docker', 'exec', args.name, 'sh', '-c', args.cmd]], {
        python_shell: false,
      })) as unknown as { retcode: number; stdout: string; stderr: string };
      return output === 'all' ? (said as unknown as Value) : said[output];
    },
  });

const lookingFunctions = {
  ps: fn({
    doc: 'The containers.',
    examples: ['salt myminion docker.ps all=True'],
    params: { filters: p.dict({ default: null, falsy: null, doc: 'key: value' }), kwargs: p.kwargs({ doc: 'all' }) },
    async run(args, ctx) {
      const filters = args.filters !== null && isDict(args.filters) ? Object.entries(plainOf(args.filters)) : [];
      const words = filters.flatMap(([key, value]) => ['--filter', `${key}=${pyStr(value)}`]);
      const rows = await listed(['container', 'ls', ...(args.kwargs['all'] ? ['--all'] : []), ...words], ctx);
      return newDict(rows.map((row) => [pyStr(row['ID'] ?? ''), row]));
    },
  }),
  list_containers: fn({
    doc: 'The names of containers.',
    examples: ['salt myminion docker.list_containers all=True'],
    params: { kwargs: p.kwargs({ doc: 'all' }) },
    async run(args, ctx) {
      const rows = await listed(['container', 'ls', ...(args.kwargs['all'] ? ['--all'] : [])], ctx);
      return rows.flatMap((row) => pyStr(row['Names'] ?? '').split(',')).sort();
    },
  }),
  inspect_container: fn({
    doc: 'Details of a container.',
    examples: ['salt myminion docker.inspect_container mycontainer'],
    params: { name },
    run: (args, ctx) => inspect('container', args.name, ctx),
  }),
  exists: fn({
    doc: 'Whether there is a container of this name.',
    examples: ['salt myminion docker.exists mycontainer'],
    params: { name },
    run: async (args, ctx) => (await ask(['container', 'inspect', args.name], ctx)) !== undefined,
  }),
  state: fn({
    doc: 'Whether a container is running, paused or stopped.',
    examples: ['salt myminion docker.state mycontainer'],
    params: { name },
    run: (args, ctx) => stateOf(args.name, ctx),
  }),
  pid: fn({
    doc: 'The number of the first process of a container.',
    examples: ['salt myminion docker.pid mycontainer'],
    params: { name },
    run: async (args, ctx) => plainOf((await inspect('container', args.name, ctx))['State'])['Pid'] ?? null,
  }),
  logs: fn({
    doc: 'The output of a container.',
    examples: ['salt myminion docker.logs mycontainer tail=20'],
    params: { name, kwargs: p.kwargs({ doc: 'tail, since, until, timestamps' }) },
    run(args, ctx) {
      const words = ['tail', 'since', 'until'].flatMap((key) =>
        args.kwargs[key] === undefined ? [] : [`--${key}`, pyStr(args.kwargs[key])],
      );
      return docker(
        ['container', 'logs', ...words, ...(args.kwargs['timestamps'] ? ['--timestamps'] : []), args.name],
        ctx,
      );
    },
  }),
  diff: fn({
    doc: 'Changed files of a container.',
    examples: ['salt myminion docker.diff mycontainer'],
    params: { name },
    async run(args, ctx) {
      const kinds: Readonly<Record<string, string>> = { C: 'Changed', A: 'Added', D: 'Deleted' };
      const found = newDict();
      for (const line of lines(await docker(['container', 'diff', args.name], ctx))) {
        const key = kinds[line.charAt(0)] ?? line.charAt(0);
        found[key] = [...((found[key] as Value[] | undefined) ?? []), line.slice(2)];
      }
      return found;
    },
  }),
  compare_containers: fn({
    doc: 'The differences of two containers.',
    examples: ['salt myminion docker.compare_containers foo bar ignore=Hostname'],
    params: {
      first: p.string({ doc: 'one container' }),
      second: p.string({ doc: 'the other' }),
      ignore: p.strings({ default: null, split: ',', falsy: null, doc: 'keys to leave out' }),
    },
    run: async (args, ctx) =>
      differences(
        await inspect('container', args.first, ctx),
        await inspect('container', args.second, ctx),
        texts(args.ignore),
      ),
  }),
};

const doingFunctions = {
  create: fn({
    doc: 'Creates a container.',
    examples: ['salt myminion docker.create image=user/repo:tag name=mycontainer'],
    params: {
      image,
      name: p.string({ default: null, falsy: null, doc: 'its name' }),
      start: p.bool({ default: false, doc: 'also start it' }),
      ...common,
      kwargs,
    },
    async run(args, ctx) {
      const made = await create(args.image, args.name, args.kwargs, ctx);
      if (args.start) await docker(['container', 'start', pyStr(made['Id'] ?? '')], ctx);
      return made;
    },
  }),
  run_container: fn({
    doc: 'Creates a container and waits until it ends (or not, with bg).',
    examples: ['salt myminion docker.run_container myuser/myimage command=/usr/local/bin/myscript.sh'],
    params: {
      image,
      name: p.string({ default: null, falsy: null, doc: 'its name' }),
      ...common,
      bg: p.bool({ default: false, doc: 'do not wait' }),
      replace: p.bool({ default: false, doc: 'replace an existing one' }),
      force: p.bool({ default: false, doc: 'also of a running one' }),
      kwargs,
    },
    async run(args, ctx) {
      if (args.replace && args.name && (await ask(['container', 'inspect', args.name], ctx)) !== undefined)
        await docker(['container', 'rm', ...(args.force ? ['--force'] : []), args.name], ctx);
      const made = await create(args.image, args.name, args.kwargs, ctx);
      const id = pyStr(made['Id'] ?? '');
      await docker(['container', 'start', id], ctx);
      if (args.bg) return made;
      const code = Number((await docker(['container', 'wait', id], ctx)).trim());
      return newDict([
        ...Object.entries(made),
        ['ExitCode', code],
        ['Logs', await docker(['container', 'logs', id], ctx)],
      ]);
    },
  }),
  start: change('start', 'running', 'Starts a container.'),
  restart: change('restart', 'running', 'Starts a container again.'),
  pause: change('pause', 'paused', 'Lets a container rest.'),
  unpause: change('unpause', 'running', 'Lets a container go on.'),
  kill: change('kill', 'stopped', 'Ends a container at once.'),
  stop: fn({
    doc: 'Stops a container.',
    examples: ['salt myminion docker.stop mycontainer timeout=20'],
    params: { name, timeout, kwargs: p.kwargs({ doc: 'unpause: also stop a paused one' }) },
    async run(args, ctx) {
      const before = await stateOf(args.name, ctx);
      if (before === 'paused') {
        if (!args.kwargs['unpause'])
          return newDict([
            ['result', false],
            [
              'state',
              newDict([
                ['old', before],
                ['new', before],
              ]),
            ],
            ['comment', `Container '${args.name}' is paused, run with unpause=True to unpause before stopping`],
          ]);
        await docker(['unpause', args.name], ctx);
      }
      const wait = args.timeout === null ? [] : ['--time', args.timeout];
      const done = await changeState(args.name, ['stop', ...wait], 'stopped', ctx);
      plainOf(done['state'])['old'] = before;
      return done;
    },
  }),
  signal: fn({
    doc: 'Sends a signal to a container.',
    examples: ['salt myminion docker.signal mycontainer SIGHUP'],
    params: { name, signal: p.string({ doc: 'the signal' }) },
    async run(args, ctx) {
      await docker(['container', 'kill', '--signal', args.signal, args.name], ctx);
      return true;
    },
  }),
  rm: fn({
    doc: 'Removes a container; its id.',
    examples: ['salt myminion docker.rm mycontainer force=True'],
    params: {
      name,
      force: p.bool({ default: false, doc: 'also a running one' }),
      volumes: p.bool({ default: false, doc: 'with its volumes' }),
      kwargs: p.kwargs({ doc: 'stop: stop it first; timeout' }),
    },
    run: (args, ctx) =>
      remove(
        args.name,
        {
          force: args.force,
          volumes: args.volumes,
          stop: Boolean(args.kwargs['stop']),
          timeout: args.kwargs['timeout'] ?? null,
        },
        ctx,
      ),
  }),
  rename: fn({
    doc: 'Renames a container.',
    examples: ['salt myminion docker.rename foo bar'],
    params: { name, new_name: p.string({ doc: 'the new name' }) },
    async run(args, ctx) {
      await docker(['container', 'rename', args.name, args.new_name], ctx);
      return true;
    },
  }),
  run: inContainer('stdout', 'run', 'What a command in a container prints.'),
  run_stdout: inContainer('stdout', 'run_stdout', 'What a command in a container prints.'),
  run_stderr: inContainer('stderr', 'run_stderr', 'What a command in a container complains about.'),
  run_all: inContainer('all', 'run_all', 'How a command in a container ended and what it printed.'),
  retcode: inContainer('retcode', 'retcode', 'How a command in a container ended.'),
};

export const containerFunctions = { ...lookingFunctions, ...doingFunctions };
