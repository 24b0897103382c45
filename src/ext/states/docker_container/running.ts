// State function docker_container.running: a container with this image and these options, started.
import {
  commandError,
  dictEntries,
  isDict,
  messageOf,
  newDict,
  onlyReads,
  type PlainDict,
  pyStr,
  type StateContext,
  type StateResult,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';

export interface RunningArgs {
  readonly name: string;
  readonly image: Value;
  readonly force: boolean;
  readonly watch_action: string;
  readonly start: boolean;
  readonly shutdown_timeout: Value;
  readonly networks: Value;
  readonly kwargs: PlainDict;
}

const sentences = (comments: readonly string[]): string => comments.join('. ') + (comments.length > 1 ? '.' : '');

/** The id of the image, which is pulled if it is missing. */
export async function resolveImage(image: string, changes: PlainDict, ctx: StateContext): Promise<Value> {
  const id = await ctx.call('docker.resolve_image_id', image);
  // An image that is not here is pulled first and announced by nothing, as in Salt.
  if (id !== false || ctx.test) return id;
  try {
    changes['image'] = await ctx.callWith('docker.pull', [image], { client_timeout: 60 });
  } catch (error) {
    throw commandError(`Failed to pull ${image}: ${messageOf(error)}`);
  }
  const now = await ctx.call('docker.resolve_image_id', image);
  if (now === false) throw commandError(`Image '${image}' not present despite a docker pull raising no errors`);
  return now;
}

/** Networks by name, with the options of the container in each. */
async function parseNetworks(given: Value, ctx: StateContext): Promise<Map<string, PlainDict>> {
  const found = new Map<string, PlainDict>();
  const list = Array.isArray(given) ? given : given ? (isDict(given) ? [given] : pyStr(given).split(',')) : [];
  for (const item of list) {
    const entries = isDict(item) ? dictEntries(item) : [[item, null] as [Value, Value]];
    for (const [key, options] of entries) {
      const parts = Array.isArray(options) ? options : options === null ? [] : [options];
      found.set(pyStr(key), Object.assign(newDict(), ...parts.map(textKeyed)) as PlainDict);
    }
  }
  if (found.size === 0) return found;
  const all = await ctx.call('docker.networks');
  const names = (Array.isArray(all) ? all : []).map((network) => pyStr(textKeyed(network)['Name'] ?? ''));
  const missing = [...found.keys()].filter((name) => !names.includes(name)).sort();
  if (missing.length > 0) throw commandError(`The following networks are not present: ${missing.join(', ')}`);
  return found;
}

const networksOf = (info: PlainDict): PlainDict => textKeyed(textKeyed(info['NetworkSettings'])['Networks']);

/** The data of one call, collected step by step. */
interface Run {
  readonly args: RunningArgs;
  readonly image: string;
  readonly imageId: Value;
  readonly currentImage: Value;
  readonly changes: PlainDict;
  readonly comments: string[];
  readonly networks: Map<string, PlainDict>;
  readonly before: string | null;
}

async function create(run: Run, name: string | null, ctx: StateContext): Promise<PlainDict> {
  const { send_signal: _signal, ...options } = run.args.kwargs;
  const made = textKeyed(await ctx.callWith('docker.create', [run.image], { name, ...options }));
  const called = pyStr(made['Name'] ?? '');
  for (const [network, options] of run.networks)
    await ctx.callWith('docker.connect_container_to_network', [called, network], options);
  if (run.args.networks !== null) {
    const info = textKeyed(await ctx.call('docker.inspect_container', called));
    for (const extra of Object.keys(networksOf(info)).filter((name_) => !run.networks.has(name_)))
      await ctx.call('docker.disconnect_container_from_network', called, extra);
  }
  return made;
}

/** Replaces the existing container. */
async function replace(run: Run, made: PlainDict, ctx: StateContext): Promise<void> {
  const { name, shutdown_timeout } = run.args;
  const wait: PlainDict = shutdown_timeout === null ? {} : { timeout: shutdown_timeout };
  const removed = await ctx.callWith('docker.rm', [name], { stop: true, ...wait });
  await ctx.call('docker.rename', made['Name'] ?? '', name);
  run.comments.push(`Replaced container '${name}'`);
  run.changes['container_id'] = newDict([
    ['removed', removed],
    ['added', made['Id'] ?? null],
  ]);
}

/** Networks to disconnect and connect, by name. */
function networkChanges(run: Run, info: PlainDict): PlainDict {
  if (run.args.networks === null) return newDict();
  const now = Object.keys(networksOf(info));
  const wanted = [...run.networks.keys()];
  return newDict([
    ...wanted
      .filter((name) => !now.includes(name))
      .map((name): [string, Value] => [
        name,
        newDict([
          ['old', null],
          ['new', true],
        ]),
      ]),
    ...now
      .filter((name) => !wanted.includes(name))
      .map((name): [string, Value] => [
        name,
        newDict([
          ['old', true],
          ['new', null],
        ]),
      ]),
  ]);
}

async function joinNetworks(run: Run, changes: PlainDict, ctx: StateContext): Promise<void> {
  const { name } = run.args;
  for (const network of Object.keys(changes).sort()) {
    const options = run.networks.get(network);
    if (options) await ctx.callWith('docker.connect_container_to_network', [name, network], options);
    else await ctx.call('docker.disconnect_container_from_network', name, network);
    run.comments.push(options ? `Connected to network '${network}'` : `Disconnected from network '${network}'`);
  }
}

/** Compares with a temporary container; true when the container was replaced. */
async function compare(run: Run, info: PlainDict, ctx: StateContext): Promise<boolean> {
  const { args, changes, comments } = run;
  // Also under test: the container is removed at the end, and only Docker itself shows the effect of the arguments.
  const temporary = await onlyReads(() => create(run, null, ctx));
  let keep = false;
  try {
    const ignore = 'Hostname,MacAddress';
    const differing = textKeyed(
      await ctx.callWith('docker.compare_containers', [args.name, temporary['Name'] ?? ''], { ignore }),
    );
    if (Object.keys(differing).length > 0) {
      changes['container'] = differing;
      // One of two parts; the temporary container is removed after both.
      if (ctx.test) comments.push(`Container '${args.name}' would be replaced`);
      else {
        keep = true;
        await replace(run, temporary, ctx);
      }
    } else if (args.kwargs['send_signal'] === true) await signal(run, ctx);
    else comments.push(`Container '${args.name}' is already configured as specified`);
  } finally {
    if (!keep) await onlyReads(() => ctx.call('docker.rm', temporary['Name'] ?? ''));
  }
  const nets = keep ? newDict() : networkChanges(run, info);
  if (Object.keys(nets).length > 0) {
    changes['container'] = newDict([...Object.entries(textKeyed(changes['container'])), ['Networks', nets]]);
    if (ctx.test) comments.push('Network configuration would be updated');
    else await joinNetworks(run, nets, ctx);
  }
  return keep;
}

const signal = ({ args, changes, comments }: Run, ctx: StateContext): Promise<void> =>
  withForecast<void>(
    ctx,
    () => void comments.push(`Signal ${args.watch_action} would be sent to container`),
    async () => {
      await ctx.callWith('docker.signal', [args.name], { signal: args.watch_action });
      changes['signal'] = args.watch_action;
      comments.push(`Sent signal ${args.watch_action} to container`);
    },
  );

const summedUp = ({ comments, changes }: Run, result: boolean | null, ctx: StateContext): StateResult =>
  ctx.result({ result, comment: sentences(comments), changes });

/** Starts the container if needed, and builds the result. */
function finish(run: Run, isNew: boolean, ctx: StateContext): Promise<StateResult> {
  const { args, changes, comments, before } = run;
  const starts = isNew ? before === null || args.start : args.start && before !== 'running';
  return withForecast(
    ctx,
    () => {
      if (starts) comments.push('Container would be started');
      return summedUp(run, starts || Object.keys(changes).length > 0 ? null : true, ctx);
    },
    () => start(run, starts, ctx),
  );
}

async function start(run: Run, starts: boolean, ctx: StateContext): Promise<StateResult> {
  const { args, changes, comments, before } = run;
  const done = (result: boolean): StateResult => summedUp(run, result, ctx);
  const exists = before !== null;
  let after: Value;
  try {
    const started = starts ? textKeyed(await ctx.call('docker.start', args.name)) : undefined;
    after = started ? (textKeyed(started['state'])['new'] ?? null) : await ctx.call('docker.state', args.name);
  } catch (error) {
    comments.push(`Failed to start container '${args.name}': '${messageOf(error)}'`);
    return done(false);
  }
  if (before !== after) {
    changes['state'] = newDict([
      ['old', before],
      ['new', after],
    ]);
    if (exists) comments.push(`State changed from '${before}' to '${pyStr(after)}'`);
  }
  if (exists && run.currentImage !== run.imageId) {
    comments.push('Container has a new image');
    changes['image'] = newDict([
      ['old', run.currentImage],
      ['new', run.imageId],
    ]);
  }
  if (after === 'running' || !args.start) return done(true);
  comments.push('Container is not running');
  return done(false);
}

async function applyChanges(run: Run, info: PlainDict, ctx: StateContext): Promise<StateResult> {
  const { args, changes, comments, currentImage, imageId } = run;
  const exists = run.before !== null;
  const anew = args.force || !exists || currentImage !== imageId;
  if (!anew) return finish(run, await compare(run, info, ctx), ctx);
  return withForecast(
    ctx,
    () => {
      if (args.force) changes['forced_update'] = true;
      else
        changes['image'] = newDict([
          ['old', currentImage],
          ['new', imageId],
        ]);
      comments.push(`Container '${args.name}' would be ${exists ? 'replaced' : 'created'}`);
      return summedUp(run, null, ctx);
    },
    async () => {
      const made = await create(run, exists ? null : args.name, ctx);
      if (exists) await replace(run, made, ctx);
      else {
        comments.push(`Created container '${args.name}'`);
        changes['container_id'] = newDict([['added', made['Id'] ?? null]]);
      }
      return finish(run, true, ctx);
    },
  );
}

export async function running(args: RunningArgs, ctx: StateContext): Promise<StateResult> {
  if (args.image === null) return ctx.fail("The 'image' argument is required");
  const image = pyStr(args.image);
  const [changes, comments] = [newDict(), [] as string[]];
  try {
    const networks = await parseNetworks(args.networks, ctx);
    const imageId = await resolveImage(image, changes, ctx);
    const info = textKeyed(await ctx.call('docker.inspect_container', args.name).catch(() => null));
    const currentImage = info['Image'] ?? null;
    const before = currentImage === null ? null : pyStr(await ctx.call('docker.state', args.name));
    const run = { args, image, imageId, currentImage, changes, comments, networks, before };
    return await applyChanges(run, info, ctx);
  } catch (error) {
    return ctx.fail(sentences([...comments, messageOf(error)]), { changes });
  }
}
