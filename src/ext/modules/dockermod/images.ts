// Images of Docker.
import {
  commandError,
  dictEntries,
  fn,
  isDict,
  type ModuleContext,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { ask, docker, inspect, listed } from './cli.ts';

const name = p.string({ doc: 'its name' });
const timeouts = { client_timeout: p.ignored({ default: 60, doc: 'no effect' }) };

async function imageId(image: string, ctx: ModuleContext): Promise<string | false> {
  const found = await ask(['image', 'inspect', '--format', '{{.Id}}', image], ctx);
  return found === undefined ? false : found.trim();
}

const tagsOf = async (ctx: ModuleContext): Promise<string[]> =>
  (await listed(['image', 'ls'], ctx))
    .map((row) => `${pyStr(row['Repository'] ?? '')}:${pyStr(row['Tag'] ?? '')}`)
    .filter((tag) => !tag.includes('<none>'))
    .sort();

/** `nginx` → `nginx:latest` if that image exists, otherwise false. */
async function resolveTag(image: string, ctx: ModuleContext): Promise<string | false> {
  const id = await imageId(image, ctx);
  if (id === false) return false;
  const tags = (await inspect('image', image, ctx))['RepoTags'];
  const list = Array.isArray(tags) ? tags.map(pyStr) : [];
  const wanted = /[:@]/.test(image.split('/').at(-1) ?? '') ? image : `${image}:latest`;
  return list.find((tag) => tag === wanted) ?? list[0] ?? id;
}

/** The ids of pulled layers, in the form that is shown. */
function pulled(text: string, seconds: number): PlainDict {
  const layers = (what: RegExp): string[] => [...text.matchAll(what)].map((match) => match[1] as string);
  const fresh = layers(/^([0-9a-f]+): Pull complete/gm);
  const known = layers(/^([0-9a-f]+): Already exists/gm);
  const status = /^Status: (.*)$/m.exec(text)?.[1];
  return newDict([
    ['Time_Elapsed', seconds],
    ['retcode', 0],
    [
      'Layers',
      newDict([
        ...(fresh.length > 0 ? [['Pulled', fresh] as [string, Value]] : []),
        ...(known.length > 0 ? [['Already_Pulled', known] as [string, Value]] : []),
      ]),
    ],
    ...(status === undefined ? [] : [['Status', status] as [string, Value]]),
  ]);
}

const split = (image: string): { repository: string; tag: string } => {
  const at = image.lastIndexOf(':');
  return at > image.lastIndexOf('/')
    ? { repository: image.slice(0, at), tag: image.slice(at + 1) }
    : { repository: image, tag: 'latest' };
};

export const imageFunctions = {
  images: fn({
    doc: 'The images.',
    examples: ['salt myminion docker.images'],
    params: { verbose: p.bool({ default: false, doc: 'no effect' }), kwargs: p.kwargs({ doc: 'all' }) },
    async run(args, ctx) {
      const rows = await listed(['image', 'ls', ...(args.kwargs['all'] ? ['--all'] : [])], ctx);
      return newDict(rows.map((row) => [pyStr(row['ID'] ?? ''), row]));
    },
  }),
  list_tags: fn({
    doc: 'The tags of images.',
    examples: ['salt myminion docker.list_tags'],
    params: {},
    run: (_args, ctx) => tagsOf(ctx),
  }),
  inspect_image: fn({
    doc: 'Details of an image.',
    examples: ['salt myminion docker.inspect_image busybox'],
    params: { name },
    run: (args, ctx) => inspect('image', args.name, ctx),
  }),
  resolve_image_id: fn({
    doc: 'The id of an image; False when there is none.',
    examples: ['salt myminion docker.resolve_image_id busybox:latest'],
    params: { name },
    run: (args, ctx) => imageId(args.name, ctx),
  }),
  resolve_tag: fn({
    doc: 'The full tag of an image; False when there is none.',
    examples: ['salt myminion docker.resolve_tag busybox'],
    params: { name, kwargs: p.kwargs({ doc: 'no effect' }) },
    run: (args, ctx) => resolveTag(args.name, ctx),
  }),
  pull: fn({
    doc: 'Fetches an image.',
    examples: ['salt myminion docker.pull centos:6'],
    params: {
      image: p.string({ doc: 'the image' }),
      insecure_registry: p.bool({ default: false, doc: 'no effect' }),
      api_response: p.bool({ default: false, doc: 'no effect' }),
      ...timeouts,
    },
    async run(args, ctx) {
      const start = performance.now();
      const text = await docker(['image', 'pull', args.image], ctx);
      return pulled(text, (performance.now() - start) / 1000);
    },
  }),
  push: fn({
    doc: 'Sends an image to its registry.',
    examples: ['salt myminion docker.push user/image'],
    params: { image: p.string({ doc: 'the image' }), kwargs: p.kwargs({ doc: 'no effect' }) },
    run: async (args, ctx) =>
      newDict([
        ['Status', await docker(['image', 'push', args.image], ctx)],
        ['retcode', 0],
      ]),
  }),
  build: fn({
    doc: 'Creates an image from a Dockerfile.',
    examples: ['salt myminion docker.build /path/to/docker/build/dir image=user/repo tag=v1'],
    params: {
      path: p.string({ default: null, falsy: null, doc: 'folder with the Dockerfile' }),
      repository: p.string({ default: null, doc: 'name of the image' }),
      tag: p.string({ default: null, doc: 'its tag' }),
      cache: p.bool({ default: true, doc: 'use the build cache' }),
      rm: p.bool({ default: true, doc: 'remove intermediate containers' }),
      api_response: p.bool({ default: false, doc: 'no effect' }),
      fileobj: p.ignored({ default: null, doc: 'no effect' }),
      dockerfile: p.string({ default: null, falsy: null, doc: 'another name of the Dockerfile' }),
      buildargs: p.dict({ default: null, falsy: null, doc: 'variables' }),
    },
    async run(args, ctx) {
      if (!args.path) throw commandError("'path' is required");
      const image = `${pyStr(args.repository)}:${args.tag ?? 'latest'}`;
      const build = isDict(args.buildargs) ? dictEntries(args.buildargs) : [];
      const words = [
        ...(args.cache ? [] : ['--no-cache']),
        ...(args.rm ? ['--rm'] : ['--rm=false']),
        ...(args.dockerfile ? ['--file', args.dockerfile] : []),
        ...build.flatMap(([key, value]) => ['--build-arg', `${pyStr(key)}=${pyStr(value)}`]),
      ];
      await docker(['image', 'build', ...words, '--tag', image, args.path], ctx);
      const id = await imageId(image, ctx);
      return newDict([
        ['Id', id === false ? null : id.replace('sha256:', '').slice(0, 12)],
        ['Image', image],
      ]);
    },
  }),
  load: fn({
    doc: 'Loads an image from a file.',
    examples: ['salt myminion docker.load /path/to/archive.tar repository=user/repo tag=v1'],
    params: {
      path: p.string({ doc: 'the file, here or salt://…' }),
      repository: p.string({ default: null, falsy: null, doc: 'name it gets' }),
      tag: p.string({ default: null, doc: 'tag it gets' }),
    },
    async run(args, ctx) {
      const path = args.path.includes('://') ? pyStr(await ctx.call('cp.cache_file', args.path)) : args.path;
      const text = await docker(['image', 'load', '--input', path], ctx);
      const loaded = [...text.matchAll(/^Loaded image(?: ID)?: (.+)$/gm)].map((match) => match[1] as string);
      const image = args.repository ? `${args.repository}:${args.tag ?? 'latest'}` : undefined;
      if (image !== undefined && loaded[0]) await docker(['image', 'tag', loaded[0], image], ctx);
      return newDict([
        ['Path', path],
        ['Layers', loaded],
        ...(image === undefined ? [] : [['Image', image] as [string, Value]]),
      ]);
    },
  }),
  rmi: fn({
    doc: 'Removes images.',
    examples: ['salt myminion docker.rmi busybox'],
    params: { names: p.rest({ doc: 'the images' }), kwargs: p.kwargs({ doc: 'force' }) },
    async run(args, ctx) {
      const [layers, tags, errors]: [string[], string[], string[]] = [[], [], []];
      for (const image of args.names.map(pyStr)) {
        try {
          const text = await docker(['image', 'rm', ...(args.kwargs['force'] ? ['--force'] : []), image], ctx);
          layers.push(...[...text.matchAll(/^Deleted: (.+)$/gm)].map((match) => match[1] as string));
          tags.push(...[...text.matchAll(/^Untagged: (.+)$/gm)].map((match) => match[1] as string));
        } catch (error) {
          errors.push(messageOf(error));
        }
      }
      return newDict([
        ['Layers', layers],
        ['Tags', tags],
        ...(errors.length > 0 ? [['Errors', errors] as [string, Value], ['retcode', 1] as [string, Value]] : []),
      ]);
    },
  }),
  tag: fn({
    doc: 'Tags an image.',
    examples: ['salt myminion docker.tag 0123456789ab myrepo/mycontainer tag'],
    params: {
      name,
      repository: p.string({ doc: 'the new name' }),
      tag: p.string({ default: 'latest', doc: 'its tag' }),
      force: p.bool({ default: false, doc: 'no effect' }),
    },
    async run(args, ctx) {
      await docker(['image', 'tag', args.name, `${args.repository}:${args.tag}`], ctx);
      return true;
    },
  }),
  save: fn({
    doc: 'Writes an image to a file.',
    examples: ['salt myminion docker.save centos:7 /tmp/cent7.tar'],
    params: { name, path: p.string({ doc: 'the file' }), kwargs: p.kwargs({ doc: 'no effect' }) },
    async run(args, ctx) {
      await docker(['image', 'save', '--output', args.path, args.name], ctx);
      return newDict([
        ['Path', args.path],
        ['Name', split(args.name).repository],
      ]);
    },
  }),
};
