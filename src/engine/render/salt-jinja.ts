// Jinja as Salt uses it: the names of an SLS, templates from the tree, and Salt's words for errors.
import { dirname, join, normalize } from 'node:path';
import { isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { RenderRequest } from '../../extend/sdk/index.ts';
import type { RenderHost, SourceFile } from './host.ts';
import { createEnvironment, type EnvironmentOptions, type JinjaEnvironment, type LoadedSource } from './jinja/environment.ts';
import { JinjaError } from './jinja/errors.ts';
import { Bridge } from './jinja/runtime/host.ts';
import { saltError } from './jinja-error.ts';
import { readSource } from './read-source.ts';
import { SaltObject } from './salt-object.ts';
import { slsNames } from './sls-context.ts';

export async function renderJinja(host: RenderHost, source: string, request: RenderRequest): Promise<string> {
  const names = templateNames(host, request);
  const bridge = new Bridge();
  const salt = new SaltObject(host.functions, bridge);
  await salt.prepare(source);
  const context: Record<string, unknown> = { salt, ...names };
  const loader = async (name: string): Promise<LoadedSource | undefined> => {
    const found = await loadTemplate(host, request, name, String(names['tpldir'] ?? '.'));
    if (found) await salt.prepare(found.source);
    return found;
  };
  const environment = environmentFor(host, request, loader, context);
  try {
    const text = await environment.render(source, context, host.signal ? { signal: host.signal } : {});
    // Jinja drops one line break at the end; Salt puts it back.
    return source.endsWith('\n') ? `${text}\n` : text;
  } catch (error) {
    throw error instanceof JinjaError ? saltError(error, source, request) : error;
  }
}

/** What a template sees besides `salt`: explicit names win over everything, those of its place over nothing. */
function templateNames(host: RenderHost, request: RenderRequest): PlainDict {
  const { path, sls, saltenv = 'base', context } = request;
  const names = newDict([
    ['grains', host.grains],
    ['opts', host.opts as PlainDict],
    ['pillar', host.pillar],
    ['saltenv', saltenv],
    ['sls', sls ?? ''],
    ['proxy', newDict()],
    ...Object.entries(context ?? {}),
  ]);
  for (const [name, value] of Object.entries(slsNames(path, String(names['sls'])))) names[name] ??= value;
  return names;
}

const optionNames: Readonly<Record<string, keyof EnvironmentOptions>> = {
  block_start_string: 'blockStart',
  block_end_string: 'blockEnd',
  variable_start_string: 'variableStart',
  variable_end_string: 'variableEnd',
  comment_start_string: 'commentStart',
  comment_end_string: 'commentEnd',
  line_statement_prefix: 'lineStatementPrefix',
  line_comment_prefix: 'lineCommentPrefix',
  trim_blocks: 'trimBlocks',
  lstrip_blocks: 'lstripBlocks',
  newline_sequence: 'newlineSequence',
  keep_trailing_newline: 'keepTrailingNewline',
};

function environmentFor(
  host: RenderHost,
  request: RenderRequest,
  loader: (name: string) => Promise<LoadedSource | undefined>,
  globals: Record<string, unknown>,
): JinjaEnvironment {
  const { opts } = host;
  const chosen = opts[request.sls ? 'jinja_sls_env' : 'jinja_env'];
  const own: Record<string, Value> = newDict();
  for (const [name, value] of chosen !== undefined && isDict(chosen) ? Object.entries(chosen) : []) {
    const option = optionNames[name.toLowerCase()];
    if (option) own[option] = value as Value;
    else host.log.warn(`Jinja2 environment ${name} is not recognized`);
  }
  if (opts['jinja_trim_blocks'] === true) own['trimBlocks'] = true;
  if (opts['jinja_lstrip_blocks'] === true) own['lstripBlocks'] = true;
  return createEnvironment({
    ...(own as EnvironmentOptions),
    loader,
    globals,
    undefined: opts['allow_undefined'] === true ? 'lenient' : 'strict',
    saltRelease: 3006,
  });
}

/** Names count from the root of the tree; `./` and `../` from the folder of the template. */
async function loadTemplate(
  host: RenderHost,
  request: RenderRequest,
  name: string,
  tpldir: string,
): Promise<LoadedSource | undefined> {
  const isRelative = name.startsWith('./') || name.startsWith('../') || name === '.' || name === '..';
  const path = isRelative ? normalize(`${tpldir}/${name}`) : name;
  if (path === '..' || path.startsWith('../')) {
    host.log.warn(`Discarded template path "${name}": attempts to ascend outside of salt://`);
    return undefined;
  }
  const found = await findTemplate(host, request, path);
  if (!found) return undefined;
  return { source: found.text ?? (await readSource(found.path)), name, path: found.path };
}

async function findTemplate(host: RenderHost, request: RenderRequest, path: string): Promise<SourceFile | undefined> {
  const { saltenv = 'base' } = request;
  if (saltenv !== '') return host.files.cacheFile(`salt://${path}`, saltenv);
  // A template outside any environment finds its neighbours, and nothing above them.
  if (request.path === undefined || path.startsWith('/')) return undefined;
  return { path: join(dirname(request.path), path) };
}
