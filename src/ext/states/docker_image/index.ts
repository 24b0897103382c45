// State module `docker_image`: images of Docker.
import {
  defineState,
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

interface Wanted {
  readonly name: string;
  readonly tag: Value;
  readonly build: Value;
  readonly load: Value;
  readonly force: boolean;
  readonly insecure_registry: boolean;
  readonly client_timeout: Value;
  readonly dockerfile: Value;
  readonly sls: Value;
  readonly kwargs: PlainDict;
}

/** Data of an image; undefined when there is none. */
async function known(image: string, ctx: StateContext): Promise<PlainDict | undefined> {
  try {
    return textKeyed(await ctx.call('docker.inspect_image', image));
  } catch (error) {
    if (messageOf(error).includes('404')) return undefined;
    throw error;
  }
}

interface Way {
  readonly action: string;
  readonly problem: string;
  readonly get: () => Promise<Value>;
  /** What counts as a change. */
  readonly news: (answer: PlainDict, before: PlainDict | undefined) => boolean;
}

const shortId = (info: PlainDict): string =>
  pyStr(info['Id'] ?? '')
    .replace('sha256:', '')
    .slice(0, 12);

function wayOf(wanted: Wanted, image: string, ctx: StateContext): Way {
  const { name, build, load, insecure_registry, client_timeout } = wanted;
  const tag = wanted.tag === null ? null : pyStr(wanted.tag);
  if (build) {
    const more = textKeyed(wanted.kwargs['kwargs'] ?? null);
    const kwargs = { ...more, path: build, repository: name, tag, dockerfile: wanted.dockerfile };
    return {
      action: 'built',
      problem: `Encountered error building ${pyStr(build)} as ${image}: `,
      get: () => ctx.callWith('docker.build', [], kwargs),
      news: (answer, before) => !before || answer['Id'] !== shortId(before),
    };
  }
  if (load)
    return {
      action: 'loaded',
      problem: `Encountered error loading ${pyStr(load)} as ${image}: `,
      get: () => ctx.callWith('docker.load', [], { path: load, repository: name, tag }),
      news: (answer, before) => !before || (Array.isArray(answer['Layers']) && answer['Layers'].length > 0),
    };
  return {
    action: 'pulled',
    problem: `Encountered error pulling ${image}: `,
    get: () => ctx.callWith('docker.pull', [image], { insecure_registry, client_timeout }),
    news: (answer, before) => !before || textKeyed(answer['Layers'])['Pulled'] !== undefined,
  };
}

async function present(wanted: Wanted, ctx: StateContext): Promise<StateResult> {
  const { name, build, load, sls } = wanted;
  if (sls) return ctx.fail("The 'sls' argument is not supported");
  if (build && load) return ctx.fail("Only one of 'build', 'load', or 'sls' is permitted.");
  if ((build || load) && !wanted.tag)
    return ctx.fail("The 'tag' argument is required if any one of 'build', 'load', or 'sls' is used.");
  const image = wanted.tag ? `${name}:${pyStr(wanted.tag)}` : name;
  let before: PlainDict | undefined;
  try {
    before = await known(image, ctx);
  } catch (error) {
    return ctx.fail(messageOf(error));
  }
  if (before && !wanted.force) return ctx.ok(`Image ${image} already present`);
  const way = wayOf(wanted, image, ctx);
  return ctx.change(newDict(), '', {
    test: `Image ${image} will be ${way.action}`,
    async apply() {
      let answer: PlainDict;
      try {
        answer = textKeyed(await way.get());
      } catch (error) {
        return ctx.fail(`${way.problem}${messageOf(error)}`);
      }
      if (way.news(answer, before)) return ctx.ok(`Image '${image}' was ${way.action}`, { changes: answer });
      return ctx.ok(`Image '${build || load ? name : image}' was ${way.action}, but there were no changes`);
    },
  });
}

async function absent(name: Value, images: Value, force: boolean, ctx: StateContext): Promise<StateResult> {
  const targets = Array.isArray(images) ? images.map(pyStr) : name ? [pyStr(name)] : [];
  if (targets.length === 0) return ctx.fail("One of 'name' and 'images' must be provided");
  const there: string[] = [];
  for (const target of targets) {
    const tag = await ctx.call('docker.resolve_tag', target);
    if (tag !== false) there.push(pyStr(tag));
  }
  const [only] = there;
  if (only === undefined)
    return ctx.ok(
      targets.length === 1 ? `Image ${pyStr(name)} is not present` : 'All specified images are not present',
    );
  const list = there.join(', ');
  return ctx.change(newDict(), '', {
    test: there.length === 1 ? `Image ${only} will be removed` : `The following images will be removed: ${list}`,
    async apply() {
      const answer = textKeyed(await ctx.callWith('docker.rmi', there, { force }));
      const left = await ctx.call('docker.list_tags');
      const failed = there.filter((image) => Array.isArray(left) && left.includes(image));
      if (failed.length === 0)
        return ctx.ok(there.length === 1 ? `Image ${only} was removed` : `The following images were removed: ${list}`, {
          changes: answer,
        });
      if (failed.length < there.length)
        return ctx.fail(`The following image(s) failed to be removed: ${failed.join(', ')}`, { changes: answer });
      const errors = Array.isArray(answer['Errors']) ? answer['Errors'].map(pyStr) : [];
      const why = errors.length > 0 ? `. The following errors were encountered: ${errors.join('; ')}` : '';
      return ctx.fail(`None of the specified images were removed${why}`);
    },
  });
}

const presentParams = {
  name: p.string({ doc: 'the image' }),
  tag: p.scalar({ default: null, doc: 'its tag' }),
  build: p.scalar({ default: null, doc: 'folder with a Dockerfile' }),
  load: p.scalar({ default: null, doc: 'file with the image' }),
  force: p.bool({ default: false, doc: 'also if it exists' }),
  insecure_registry: p.bool({ default: false, doc: 'no effect' }),
  client_timeout: p.scalar({ default: 60, nullable: true, doc: 'no effect' }),
  dockerfile: p.scalar({ default: null, doc: 'another name of the Dockerfile' }),
  sls: p.oneOf(['string', 'list'], { default: null, doc: 'not supported' }),
  base: p.ignored({ default: 'opensuse/python', doc: 'no effect' }),
  saltenv: p.ignored({ default: 'base', doc: 'no effect' }),
  pillarenv: p.ignored({ default: null, doc: 'no effect' }),
  pillar: p.ignored({ default: null, doc: 'no effect' }),
  kwargs: p.kwargs({ doc: 'kwargs: arguments of docker.build' }),
};

export default defineState({
  name: 'docker_image',
  doc: 'Images of Docker.',
  available: needsFunction('docker.version', 'docker module could not be loaded'),
  functions: {
    present: state({
      doc: 'An image that must exist: pulled, built or loaded.',
      examples: ['nginx:\n  docker_image.present:\n    - tag: "1.25"'],
      params: presentParams,
      run: present,
    }),
    absent: state({
      doc: 'Images that must not exist.',
      examples: ['old:\n  docker_image.absent:\n    - images: ["nginx:1.20", "redis:5"]'],
      params: {
        name: p.scalar({ default: null, doc: 'one image' }),
        images: p.oneOf(['list', 'string'], { default: null, doc: 'several images' }),
        force: p.bool({ default: false, doc: 'also if containers use it' }),
      },
      run: (args, ctx) => absent(args.name, args.images, args.force, ctx),
    }),
  },
  modWatch: state({
    doc: 'Pulls, builds or loads the image again.',
    params: presentParams,
    run: (args, ctx) =>
      ctx.watchedFunction === 'present' || ctx.watchedFunction === undefined
        ? present({ ...args, force: true }, ctx)
        : ctx.fail(`watch requisite is not implemented for ${ctx.watchedFunction}`),
  }),
});
