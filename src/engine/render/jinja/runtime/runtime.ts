// State of one render: settings, globals, loaded templates, the frame stack and the limits.
import { HaliteError } from '../../../../base/errors/index.ts';
import { PyError, type TemplateFrame } from '../errors.ts';
import type { PyFunction } from './callable.ts';
import type { BlockCode, Context, Frame, TemplateInfo, Vars } from './context.ts';
import { Undefined, type UndefinedFacts } from './undefined.ts';
import type { MaybePromise, PyObject, PyValue } from './value.ts';

/** A template as the runtime sees it; the compile folder makes them. */
export interface LoadedTemplate {
  readonly name: string | undefined;
  newContext(rt: Runtime, vars: Vars | undefined, shared: boolean, locals?: ReadonlyMap<string, PyValue>): Context;
  renderRoot(rt: Runtime, context: Context): MaybePromise<string>;
  readonly blocks: ReadonlyMap<string, BlockCode>;
  /** Module made without context, kept for the rest of the render. */
  module: PyObject | undefined;
}

export interface EngineSettings {
  readonly strict: boolean;
  readonly autoescape: boolean;
  readonly newlineSequence: string;
  readonly filters: ReadonlyMap<string, PyFunction>;
  readonly tests: ReadonlyMap<string, PyFunction>;
  /** Turns a printed value into text. */
  readonly finalize: (value: PyValue) => string;
  /** Salt release whose behaviour is followed where releases differ (3006, 3007, 3008). */
  readonly saltRelease: number;
  readonly maxDepth: number;
  readonly maxSteps: number;
}

/** What one render brings with it besides its data. */
export interface RuntimeHooks {
  readonly load: (rt: Runtime, name: string, from: TemplateInfo) => MaybePromise<LoadedTemplate>;
  readonly signal: AbortSignal | undefined;
  readonly now: () => number;
  readonly log: ((level: string, message: string) => void) | undefined;
}

export class Runtime {
  readonly settings: EngineSettings;
  readonly globals: Vars;
  /** Brings host data in; one per render, so that a host object met twice is one value in the template. */
  readonly bridge: { in(value: unknown): PyValue; adopt(source: object, value: PyValue): void };
  readonly stack: Frame[] = [];
  readonly templates = new Map<string, LoadedTemplate>();
  readonly hooks: RuntimeHooks;
  #steps = 0;

  constructor(settings: EngineSettings, globals: Vars, bridge: Runtime['bridge'], hooks: RuntimeHooks) {
    this.settings = settings;
    this.globals = globals;
    this.bridge = bridge;
    this.hooks = hooks;
  }

  /** A template by name, as seen from another one. */
  load(name: string, from: TemplateInfo): MaybePromise<LoadedTemplate> {
    return this.hooks.load(this, name, from);
  }

  undefined(facts: UndefinedFacts): Undefined {
    return new Undefined(this.settings.strict, facts);
  }

  get frame(): Frame | undefined {
    return this.stack[this.stack.length - 1];
  }

  enter(frame: Frame): void {
    if (this.stack.length >= this.settings.maxDepth) {
      throw new PyError('RecursionError', 'maximum recursion depth exceeded');
    }
    this.stack.push(frame);
  }

  leave(): void {
    this.stack.pop();
  }

  /** Counts loop rounds so that a template cannot run for ever; also the place where an abort is noticed. */
  step(): void {
    this.#steps += 1;
    if (this.#steps > this.settings.maxSteps) {
      throw new HaliteError('render.failed', `template exceeds ${this.settings.maxSteps} loop rounds`);
    }
    if (this.hooks.signal !== undefined && (this.#steps & 1023) === 0) this.checkAbort();
  }

  checkAbort(): void {
    const { signal } = this.hooks;
    if (signal?.aborted) throw new HaliteError('render.failed', 'rendering was aborted', { cause: signal.reason });
  }

  /** The template stack, outermost first. */
  trace(): TemplateFrame[] {
    return this.stack.map(({ info, line, location }) => ({
      template: info.name,
      path: info.path,
      line,
      location,
      source: info.source,
    }));
  }
}
