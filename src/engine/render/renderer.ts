// Runs a text through its pipe of renderers.
import { asList, asText, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Loaded } from '../../extend/loader/index.ts';
import { RenderError, type RendererContext, type RenderRequest } from '../../extend/sdk/index.ts';
import type { RenderHost } from './host.ts';
import { type PipeStep, parsePipe, shebangOf, shebangOfString } from './pipe.ts';
import { hasNoJinja } from './plain-text.ts';
import { pythonOf } from './python-step.ts';
import { readSource } from './read-source.ts';
import { refusalOf } from './refused.ts';

/** Called with the input of each step, for observers of a pipe. */
export type StepWatcher = (renderer: string, input: Value) => void;

interface Step {
  readonly name: string;
  readonly argline: string;
  readonly found: Loaded<'renderers'>;
}

/** Renders a text that is not a file: of its `#!` line only the first word counts, as in Salt. */
export async function renderText(host: RenderHost, text: string, request: RenderRequest = {}): Promise<Value> {
  return runPipe(host, text, shebangOfString(text), request, undefined);
}

/** Renders a file. One that is missing, empty or blank gives an empty dict. */
export async function renderFile(
  host: RenderHost,
  path: string,
  request: RenderRequest = {},
  watch?: StepWatcher,
): Promise<Value> {
  const text = await readSource(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'EISDIR' && error.code !== 'ENOTDIR') throw error;
    host.log.error(`Template does not exist: ${path}`);
    return '';
  });
  if (text.trim() === '') return newDict();
  return runPipe(host, text, shebangOf(text), { ...request, path }, watch);
}

/** One renderer on a value, outside any pipe (decryption); undefined when there is none of that name that takes data. */
export async function applyRenderer(host: RenderHost, name: string, value: Value): Promise<Value | undefined> {
  const found = await host.loader.get('renderers', name);
  if (found?.extension.input !== 'any') return undefined;
  return found.extension.render(value, contextOf(host, '', {}, false));
}

async function runPipe(
  host: RenderHost,
  text: string,
  shebang: string | undefined,
  request: RenderRequest,
  watch: StepWatcher | undefined,
): Promise<Value> {
  const pipe = request.pipe ?? shebang ?? request.renderer ?? optionText(host, 'renderer', 'jinja|yaml');
  const steps = await findSteps(host, pipe);
  // As in Salt: a pipe without remaining renderers gives an empty dict, not the text.
  if (steps.length === 0) return newDict();
  let value: Value = text;
  for (const [at, step] of steps.entries()) {
    watch?.(step.name, value);
    value = await runStep(host, step, value, request, at === 0);
  }
  if (typeof value === 'string' && text.includes('\r\n') && !value.includes('\r\n')) {
    return value.replaceAll('\n', '\r\n');
  }
  return value;
}

async function runStep(
  host: RenderHost,
  step: Step,
  input: Value,
  request: RenderRequest,
  first: boolean,
): Promise<Value> {
  const { extension } = step.found;
  if (extension.input === 'text' && typeof input !== 'string') {
    throw new RenderError(`The renderer ${step.name} takes text, but the one before it gave data`, {
      file: request.path,
    });
  }
  const value = await extension.render(input, contextOf(host, step.argline, request, first));
  return value === null && extension.output === 'data' ? newDict() : value;
}

function contextOf(host: RenderHost, argline: string, request: RenderRequest, first: boolean): RendererContext {
  const noSecrets = (): void => undefined;
  return {
    opts: host.opts,
    grains: host.grains,
    pillar: host.pillar,
    saltenv: request.saltenv ?? 'base',
    sls: request.sls ?? '',
    path: request.path,
    argline,
    variables: request.context ?? noVariables,
    run: host.run,
    first,
    log: host.log,
    signal: host.signal,
    call: (fun, ...args) => host.functions.call(fun, args, noVariables),
    callWith: (fun, args, kwargs) => host.functions.call(fun, args, kwargs),
    exec: (file, args, options) => host.exec(file, args, options),
    async jinja(source) {
      // The engine is large; a tree without templates never loads it.
      if (hasNoJinja(source, host.opts)) return source;
      const { renderJinja } = await import('./salt-jinja.ts');
      return renderJinja(host, source, request);
    },
    async renderWith(name, source, more = {}) {
      const found = await host.loader.get('renderers', name);
      if (!found) {
        const refusal = refusalOf(name);
        if (refusal) throw new RenderError(refusal);
        return undefined;
      }
      const context = newDict([...Object.entries(request.context ?? {}), ...Object.entries(more.variables ?? {})]);
      return runStep(host, { name, argline: more.argline ?? '', found }, source, { ...request, context }, first);
    },
    ...pythonOf(host, request),
    keepSecret: host.keepSecret ?? noSecrets,
  };
}

const noVariables: PlainDict = Object.freeze(newDict());

/** The renderers of a pipe; none at all when one of them does not exist, as in Salt. */
async function findSteps(host: RenderHost, pipe: string): Promise<Step[]> {
  const allowed = optionList(host, 'renderer_whitelist');
  const forbidden = optionList(host, 'renderer_blacklist');
  const steps: Step[] = [];
  for (const step of parsePipe(pipe)) {
    if ((allowed.length > 0 && !allowed.includes(step.name)) || forbidden.includes(step.name)) {
      host.log.warn(`The renderer "${step.name}" is disallowed by configuration and will be skipped.`);
      continue;
    }
    const found = await host.loader.get('renderers', step.name);
    if (!found) return refuse(host, pipe, step);
    steps.push({ ...step, found });
  }
  return steps;
}

function refuse(host: RenderHost, pipe: string, step: PipeStep): [] {
  const why = host.loader.reason('renderers', step.name);
  const refusal = refusalOf(step.name);
  if (refusal) throw new RenderError(refusal);
  host.log.error(`The renderer "${pipe}" is not available`, { renderer: step.name, ...(why ? { why } : {}) });
  return [];
}

function optionText(host: RenderHost, name: string, fallback: string): string {
  const value = host.opts[name];
  return asText(value) || fallback;
}

function optionList(host: RenderHost, name: string): readonly Value[] {
  const value = host.opts[name];
  return asList(value) ?? [];
}
