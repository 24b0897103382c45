// Jinja as Salt uses it: the variables of an SLS, templates from the tree, and Salt's error messages.
import { dirname, join } from 'node:path';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { RenderError, type RenderRequest } from '../../extend/sdk/index.ts';
import type { RenderHost, SourceFile } from './host.ts';
import { Bridge, type LoadedSource, renderSaltTemplate, SaltRenderError, shownClass } from './jinja/index.ts';
import { readSource } from './read-source.ts';
import { saltNames } from './salt-names.ts';
import { slsNames } from './sls-context.ts';

/** The release whose filters and globals templates get. */
const saltRelease = 3006;

export async function renderJinja(host: RenderHost, source: string, request: RenderRequest): Promise<string> {
  const { salt, prepare } = saltNames(host.functions);
  await prepare(source);
  const loader = async (path: string): Promise<LoadedSource | undefined> => {
    const found = await findTemplate(host, request, path);
    if (!found) return undefined;
    const text = found.text ?? (await readSource(found.path));
    await prepare(text);
    return { source: text, path: found.path };
  };
  try {
    return await renderSaltTemplate(source, {
      context: { salt, ...templateNames(host, request) },
      loader,
      saltRelease,
      log: (level, message) => (level === 'warning' ? host.log.warn(message) : host.log.debug(message)),
      ...(host.signal ? { signal: host.signal } : {}),
      ...(host.run ? { bridge: bridgeOf(host.run) } : {}),
    });
  } catch (error) {
    throw error instanceof SaltRenderError ? placed(error, request) : error;
  }
}

const bridges = new WeakMap<object, Bridge>();

function bridgeOf(run: object): Bridge {
  const bridge = bridges.get(run) ?? new Bridge();
  bridges.set(run, bridge);
  return bridge;
}

/** The variables for a template's position; a file with a given SLS has those of the SLS. */
function placeNames({ path, sls = '' }: RenderRequest, told: Value | undefined): PlainDict {
  if (sls !== null) return slsNames(path, sls);
  return typeof told === 'string' ? slsNames(undefined, told) : newDict();
}

/**
 * The variables of a template besides `salt`: explicit names take precedence over all, those of its position over none.
 */
function templateNames(host: RenderHost, request: RenderRequest): PlainDict {
  const { sls = '', saltenv = 'base', context } = request;
  shownClass.set(host.pillar, 'salt.utils.context.NamespacedDictWrapper');
  const names = newDict([
    ['grains', host.grains],
    ['opts', host.opts as PlainDict],
    ['pillar', host.pillar],
    ['saltenv', saltenv],
    ...(sls === null ? [] : ([['sls', sls]] as const)),
    ['proxy', newDict()],
    ...Object.entries(context ?? {}),
  ]);
  for (const [name, value] of Object.entries(placeNames(request, names['sls']))) {
    if (!Object.hasOwn(names, name)) names[name] = value;
  }
  return names;
}

async function findTemplate(host: RenderHost, request: RenderRequest, path: string): Promise<SourceFile | undefined> {
  const { saltenv = 'base' } = request;
  if (saltenv !== '') return host.files.cacheFile(`salt://${path}`, saltenv);
  // A template outside any environment finds files in its own folder, and nothing above it.
  if (request.path === undefined || path.startsWith('/') || path.split('/').includes('..')) return undefined;
  return { path: join(dirname(request.path), path) };
}

/** The same text, with the position as separate data. */
function placed(error: SaltRenderError, request: RenderRequest): RenderError {
  const { jinja } = error;
  const main = request.path ?? 'template';
  const stack = jinja.frames.map((frame) => `${frame.path ?? frame.template ?? main}(${frame.line})`);
  const place = {
    file: jinja.path ?? request.path,
    line: jinja.line,
    column: jinja.column,
    excerpt: jinja.excerpt,
    stack,
  };
  return new RenderError(error.message, place, { cause: error });
}
