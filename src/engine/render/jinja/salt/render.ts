// Rendering as Salt does it: environment options, relative imports, the final newline, and Salt's error texts.
import { posix } from 'node:path';
import { HaliteError, PythonException } from '../../../../base/errors/index.ts';
import {
  type Context,
  createEnvironment,
  type EnvironmentOptions,
  type JinjaEnvironment,
  type Loader,
  type RenderOptions,
} from '../environment.ts';
import { isRuntimeFamily, isSyntaxFamily, JinjaError, sourceExcerpt, type TemplateFrame } from '../errors.ts';
import type { Bridge } from '../runtime/host.ts';
import type { TemplateInfo } from '../runtime/runtime.ts';

export interface SaltTemplateOptions {
  /** Variables: `salt`, `grains`, `pillar`, `opts`, `saltenv`, `sls`, `tpldir`… All are globals as well. */
  readonly context: Context;
  /** Files by path from the root of the file environment. */
  readonly loader?: Loader;
  /** Overrides of what `opts` in the context says. */
  readonly allowUndefined?: boolean;
  readonly jinjaEnv?: Readonly<Record<string, unknown>>;
  readonly saltRelease?: number;
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  readonly log?: (level: string, message: string) => void;
  /** Shared by the renders of one run. */
  readonly bridge?: Bridge;
}

/** A failed render with the message Salt would print. */
export class SaltRenderError extends HaliteError {
  /** Message without line and excerpt. */
  readonly error: string;
  /** Line in the rendered template; undefined when the error is in a file that it loads. */
  readonly line: number | undefined;
  readonly jinja: JinjaError;

  constructor(text: string, error: string, line: number | undefined, jinja: JinjaError) {
    super('render.failed', text, { cause: jinja, details: jinja.details });
    this.name = 'SaltRenderError';
    this.error = error;
    this.line = line;
    this.jinja = jinja;
  }
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

function valueIn(source: unknown, key: string): unknown {
  if (source instanceof Map) return source.get(key);
  return typeof source === 'object' && source !== null && Object.hasOwn(source, key)
    ? (source as Record<string, unknown>)[key]
    : undefined;
}

function entriesOf(source: unknown): [string, unknown][] {
  if (source instanceof Map) return [...source] as [string, unknown][];
  return typeof source === 'object' && source !== null ? Object.entries(source) : [];
}

/** Environment options from `opts`: `jinja_sls_env` for SLS files, `jinja_env` for everything else. */
function environmentOptions(options: SaltTemplateOptions): EnvironmentOptions {
  const opts = valueIn(options.context, 'opts');
  const sls = valueIn(options.context, 'sls');
  const chosen: Record<string, unknown> = {};
  const source = options.jinjaEnv ?? valueIn(opts, sls === undefined || sls === '' ? 'jinja_env' : 'jinja_sls_env');
  for (const [name, value] of entriesOf(source)) {
    const known = Object.hasOwn(optionNames, name.toLowerCase()) ? optionNames[name.toLowerCase()] : undefined;
    if (known !== undefined && value !== null) chosen[known] = value;
    else if (known === undefined) options.log?.('warning', `Jinja2 environment ${name} is not recognized`);
  }
  if (valueIn(opts, 'jinja_trim_blocks') === true) chosen['trimBlocks'] = true;
  if (valueIn(opts, 'jinja_lstrip_blocks') === true) chosen['lstripBlocks'] = true;
  const lenient = options.allowUndefined ?? Boolean(valueIn(opts, 'allow_undefined'));
  return { ...chosen, undefined: lenient ? 'lenient' : 'strict', saltRelease: options.saltRelease ?? 3008 };
}

const environments = new Map<string, JinjaEnvironment>();

/** One environment per set of options, so that compiled templates are shared between renders. */
function environmentFor(options: EnvironmentOptions): JinjaEnvironment {
  const key = JSON.stringify(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)));
  let environment = environments.get(key);
  if (environment === undefined) {
    if (environments.size >= 32) environments.clear();
    environment = createEnvironment(options);
    environments.set(key, environment);
  }
  return environment;
}

const isRelative = (name: string): boolean => /^\.\.?\//.test(name) || name === '.' || name === '..';

/** Names and folders of the loaded templates; relative names count from the importing template's `tpldir`. */
class TemplateNames {
  readonly #folders = new Map<string, string>();
  readonly #main: string | undefined;

  constructor(main: unknown) {
    this.#main = typeof main === 'string' ? main : undefined;
  }

  #folderOf(template: TemplateInfo): string | undefined {
    return template.key === undefined ? this.#main : this.#folders.get(template.key);
  }

  resolve(name: string, from: TemplateInfo): string | undefined {
    const folder = this.#folderOf(from);
    if (!isRelative(name)) {
      this.#folders.set(name, posix.dirname(name) || '.');
      return name;
    }
    if (folder === undefined) return undefined;
    const path = posix.normalize(`${folder}/${name}`);
    if (path === '..' || path.startsWith('../')) return undefined;
    if (!this.#folders.has(path)) this.#folders.set(path, folder);
    return path;
  }

  /** Salt overwrites these globals with every load; templates imported without context see them. */
  publish(globals: Map<string, unknown>, key: string, name: string): void {
    const folder = isRelative(name) ? (this.#folders.get(key) ?? '.') : posix.dirname(key);
    globals.set('tplfile', name);
    globals.set('tpldir', folder);
    globals.set('tpldot', folder === '.' ? '' : folder.replaceAll('/', '.'));
  }
}

function renderOptions(options: SaltTemplateOptions): RenderOptions {
  const names = new TemplateNames(valueIn(options.context, 'tpldir'));
  return {
    globals: options.context,
    loader: options.loader,
    resolve: (name, from) => names.resolve(name, from),
    onLoad: (globals, key, name) => names.publish(globals, key, name),
    signal: options.signal,
    now: options.now,
    log: options.log,
    bridge: options.bridge,
  };
}

/** Python's traceback of the template frames, for errors Salt shows with one. */
function traceText(error: JinjaError): string {
  const lines = error.frames.map((frame) => {
    const shown = `  File "${frame.path ?? frame.template ?? '<template>'}", line ${frame.line}, in ${frame.location}`;
    const text = frame.source.split('\n')[frame.line - 1]?.trim();
    return frame.template === undefined || !text ? shown : `${shown}\n    ${text}`;
  });
  const head = 'Traceback (most recent call last):\n';
  const own = lines.map((line) => `${line}\n`).join('');
  const { cause } = error;
  if (!(cause instanceof PythonException)) return `${head}${own}${error.pyType}: ${error.message}\n`;
  // What a function in Python raised goes on in its files; what that came from stands before it.
  const start = cause.trace.lastIndexOf(head);
  return start < 0
    ? head + own + cause.trace
    : cause.trace.slice(0, start) + head + own + cause.trace.slice(start + head.length);
}

function prefixOf(pyType: string): string {
  if (pyType === 'UndefinedError') return 'Jinja variable';
  if (isRuntimeFamily(pyType) || isSyntaxFamily(pyType)) return 'Jinja syntax error:';
  if (pyType === 'SaltInvocationError' || pyType === 'CommandExecutionError') {
    return 'Problem running salt function in Jinja template:';
  }
  return 'Jinja error:';
}

/** Salt looks at top-level and macro code only; an error in a block is reported at the block's tag. */
function reportedFrame(frames: readonly TemplateFrame[]): TemplateFrame | undefined {
  return frames.findLast((frame) => !frame.location.startsWith('block '));
}

/** The text Salt prints for a failed template. */
export function saltRenderError(error: JinjaError, source: string): SaltRenderError {
  const frame = reportedFrame(error.frames);
  const prefix = prefixOf(error.pyType);
  const bare = `${prefix} ${error.message}`;
  const trace = prefix === 'Jinja error:' ? `\n${traceText(error)}\n` : '';
  if (frame !== undefined && frame.template !== undefined) {
    const place = `\n${frame.path ?? frame.template}(${frame.line}):\n${sourceExcerpt(frame.source, frame.line)}`;
    return new SaltRenderError(bare + place + trace, bare + place, undefined, error);
  }
  const line = frame?.line ?? error.line;
  if (line === undefined) return new SaltRenderError(bare + trace, bare, undefined, error);
  return new SaltRenderError(`${bare}${trace}; line ${line}\n\n${sourceExcerpt(source, line)}`, bare, line, error);
}

function salted(error: unknown, source: string): unknown {
  return error instanceof JinjaError ? saltRenderError(error, source) : error;
}

/** The engine drops one newline at the end of the source; Salt puts it back. */
const withNewline = (text: string, source: string): string => (source.endsWith('\n') ? `${text}\n` : text);

/** Renders a template with Salt's rules. */
export async function renderSaltTemplate(source: string, options: SaltTemplateOptions): Promise<string> {
  const environment = environmentFor(environmentOptions(options));
  try {
    return withNewline(await environment.render(source, options.context, renderOptions(options)), source);
  } catch (error) {
    throw salted(error, source);
  }
}
