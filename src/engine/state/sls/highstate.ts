// Renders the SLS files of a minion, with everything they include, to one set of high data.
import { pyStr } from '../../../base/codec/python/index.ts';
import { isDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { messageOf } from '../../../base/errors/index.ts';
import { type ExtensionLog, RenderError } from '../../../extend/sdk/index.ts';
import { pythonTraceback } from '../../exec/index.ts';
import { type High, shown, toHigh } from '../data.ts';
import { findState, type SlsRenderer, type StateFiles } from '../sources.ts';
import type { AvailableStates } from './available.ts';
import { numberStates, padDeclarations, takeExclude, takeExtend } from './declarations.ts';
import { type Matches, resolveInclude } from './include.ts';
import { cleanExtensions, mergeStates } from './merge.ts';

export interface BuilderOptions {
  readonly files: StateFiles;
  readonly renderer: SlsRenderer;
  readonly available: AvailableStates;
  readonly log: ExtensionLog;
  /** `state_auto_order`: states run in the order in which they are written. */
  readonly autoOrder: boolean;
}

interface Rendering {
  readonly matches: Matches | undefined;
  readonly context: PlainDict | undefined;
  /** `env:sls` that was rendered already. */
  readonly done: Set<string>;
}

/** Salt: numbers start here, so that a few states can be put in front by hand. */
const firstOrder = 10_000;

/** SLS files by name are those of the run's environment. */
export function matchesOf(
  mods: readonly string[],
  opts: Readonly<Record<string, Value>>,
): Map<string, readonly string[]> {
  const saltenv = opts['saltenv'] ?? null;
  return new Map([[saltenv === null ? 'base' : pyStr(saltenv), mods]]);
}

export class HighstateBuilder {
  readonly #options: BuilderOptions;
  #next = firstOrder;
  /** High data so far; used to evaluate failures that were expected. */
  readonly high: High = new Map();
  /** Every rendered SLS, including empty ones: a requisite on an empty SLS is met. */
  readonly processed = new Set<string>();

  constructor(options: BuilderOptions) {
    this.#options = options;
  }

  /** Renders the matches. Errors are complete sentences. */
  async render(matches: Matches, context?: PlainDict): Promise<string[]> {
    const rendering: Rendering = { matches, context, done: new Set() };
    const errors: string[] = [];
    let names: string[] = [];
    for (const [saltenv, patterns] of matches) {
      for (const pattern of patterns) {
        const env = await this.#environment(saltenv);
        if (env !== undefined) names = await this.#options.available.matching(env, pattern);
        else errors.push(`No matching salt environment for environment '${saltenv}' found`);
        // A name that is not listed may still exist: requesting it gives the right error if not. As in Salt, for an
        // environment that does not exist the names of the previous pattern are used.
        if (names.length === 0) names = [pattern];
        for (const sls of names) {
          errors.push(...(await this.#addSls(sls, saltenv, pattern, rendering)));
        }
      }
    }
    cleanExtensions(this.high);
    return errors;
  }

  async #environment(saltenv: string): Promise<string | undefined> {
    if (await this.#options.available.has(saltenv)) return saltenv;
    return (await this.#options.available.has('__env__')) ? '__env__' : undefined;
  }

  async #addSls(sls: string, saltenv: string, pattern: string, rendering: Rendering): Promise<string[]> {
    if (rendering.done.has(`${saltenv}:${sls}`)) return [];
    const { state, errors } = await this.#renderSls(sls, saltenv, rendering);
    mergeStates(this.high, state, errors);
    return errors.map((error) =>
      error.includes('is not available') && error.includes(`SLS ${pattern} in saltenv`)
        ? `No matching sls found for '${pattern}' in env '${saltenv}'`
        : error,
    );
  }

  /** Renders one file of this machine (`state.template`). */
  async renderLocal(path: string, saltenv: string): Promise<{ state: High; errors: string[] }> {
    const rendering: Rendering = { matches: undefined, context: undefined, done: new Set() };
    return this.#renderFile(path, { sls: path, saltenv, source: '' }, rendering);
  }

  async #renderSls(sls: string, saltenv: string, rendering: Rendering): Promise<{ state: High; errors: string[] }> {
    const file = await findState(this.#options.files, sls, saltenv);
    if (file) return this.#renderFile(file.dest, { sls, saltenv, source: file.source }, rendering);
    const missing =
      `Specified SLS ${sls} in saltenv ${saltenv} is not available on the salt master ` +
      'or through a configured fileserver';
    return { state: new Map(), errors: [missing] };
  }

  async #renderFile(
    path: string,
    place: { sls: string; saltenv: string; source: string },
    rendering: Rendering,
  ): Promise<{ state: High; errors: string[] }> {
    const { sls, saltenv } = place;
    const errors: string[] = [];
    const rendered = await this.#read(path, place, rendering.context, errors);
    rendering.done.add(`${saltenv}:${sls}`);
    this.processed.add(sls);
    if (!isDict(rendered)) {
      if (!isEmpty(rendered)) {
        errors.push(`SLS ${sls} does not render to a dictionary`);
        errors.push(`Error when rendering state with contents: ${shown(rendered)}`);
      }
      return { state: new Map(), errors };
    }
    const state = toHigh(rendered);
    const include = takeInclude(state, sls, errors);
    takeExtend(state, { sls, saltenv, errors });
    takeExclude(state, { sls, saltenv, errors });
    padDeclarations(state, { sls, saltenv, errors });
    for (const entry of include) await this.#include(entry, place, state, errors, rendering);
    if (this.#options.autoOrder) this.#next = numberStates(state, this.#next);
    return { state, errors };
  }

  async #read(
    path: string,
    { sls, saltenv }: { sls: string; saltenv: string },
    context: PlainDict | undefined,
    errors: string[],
  ): Promise<Value> {
    try {
      return await this.#options.renderer.render({ path, sls, saltenv, ...(context ? { context } : {}) });
    } catch (thrown) {
      errors.push(renderFailure(thrown, sls, saltenv));
      this.#options.log.error('An SLS could not be rendered', { sls, saltenv, error: located(thrown) });
      return null;
    }
  }

  async #include(
    entry: Value,
    place: { sls: string; saltenv: string; source: string },
    state: High,
    errors: string[],
    rendering: Rendering,
  ): Promise<void> {
    const targets = await resolveInclude(entry, { ...place, matches: rendering.matches }, this.#options.available);
    if (typeof targets === 'string') {
      errors.push(targets);
      return;
    }
    for (const { saltenv, sls } of targets) {
      if (rendering.done.has(`${saltenv}:${sls}`)) continue;
      const included = await this.#renderSls(sls, saltenv, rendering);
      mergeStates(state, included.state, errors);
      errors.push(...included.errors);
    }
  }
}

/** False in Python: an SLS that renders to nothing is not an error. */
function isEmpty(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  return Array.isArray(value) && value.length === 0;
}

function takeInclude(state: High, sls: string, errors: string[]): readonly Value[] {
  const include = state.get('include');
  if (include === undefined) return [];
  if (Array.isArray(include)) {
    state.delete('include');
    return include;
  }
  errors.push(`Include Declaration in SLS ${sls} is not formed as a list`);
  return [];
}

function renderFailure(thrown: unknown, sls: string, saltenv: string): string {
  const known = thrown instanceof RenderError && thrown.pyType === 'SaltRenderError';
  if (known) return `Rendering SLS '${saltenv}:${sls}' failed: ${thrown.message}`;
  return `Rendering SLS ${sls} failed, render error: ${messageOf(thrown)}\n${pythonTraceback(thrown)}`;
}

function located(thrown: unknown): string {
  return thrown instanceof RenderError ? thrown.located : messageOf(thrown);
}
