// One render: settings, globals, loaded templates, the limits, the visible variables and the stack of running code.
import { HaliteError } from '../../../../base/errors/index.ts';
import { PyError, type TemplateFrame } from '../errors.ts';
import type { Signature } from './signature.ts';
import { Undefined, type UndefinedFacts } from './undefined.ts';
import type { Kwargs, MaybePromise, PyObject, PyValue, RenderState } from './value.ts';

/** A template as seen by the runtime; created by the compile folder. */
export interface LoadedTemplate {
  readonly name: string | undefined;
  newContext(rt: Runtime, vars: Vars | undefined, shared: boolean, locals?: ReadonlyMap<string, PyValue>): Context;
  renderRoot(rt: Runtime, context: Context): MaybePromise<string>;
  readonly blocks: ReadonlyMap<string, BlockCode>;
  /** Module made without context, kept for the rest of the render. */
  module: PyObject | undefined;
}

/** A filter or test; the functions of callable.ts are. */
export interface NamedFunction extends PyObject {
  readonly sig: Signature;
  /** True when a call may return a promise. */
  readonly waits: boolean;
  invoke(rt: RenderState, args: PyValue[], kwargs: Kwargs | undefined): MaybePromise<PyValue>;
}

export interface EngineSettings {
  readonly strict: boolean;
  readonly autoescape: boolean;
  readonly newlineSequence: string;
  readonly filters: ReadonlyMap<string, NamedFunction>;
  readonly tests: ReadonlyMap<string, NamedFunction>;
  /** Converts a printed value to text. */
  readonly finalize: (value: PyValue) => string;
  /** Salt release whose behaviour is followed where releases differ (3006, 3007, 3008). */
  readonly saltRelease: number;
  readonly maxDepth: number;
  readonly maxSteps: number;
}

/** The additional inputs of one render besides its data. */
export interface RuntimeHooks {
  readonly load: (rt: Runtime, name: string, from: TemplateInfo) => MaybePromise<LoadedTemplate>;
  readonly signal: AbortSignal | undefined;
  readonly now: () => number;
  readonly log: ((level: string, message: string) => void) | undefined;
}

export class Runtime {
  readonly settings: EngineSettings;
  readonly globals: Vars;
  /** Converts host data; one per render, so that the same host object is one value in the template. */
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

  /** Counts loop iterations so that a template cannot run endlessly; also checks for an abort. */
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

export type Vars = Map<string, PyValue>;

/** A compiled block: renders into the frame it is given. */
export type BlockCode = (context: Context, rt: Runtime) => MaybePromise<string>;

/** Names given from outside (`parent`), names set at top level (`vars`), and the blocks of the template chain. */
export class Context {
  readonly parent: Vars;
  readonly vars: Vars = new Map();
  readonly exported = new Set<string>();
  readonly templateName: string | undefined;
  readonly blocks: Map<string, BlockCode[]>;
  autoescape: boolean;

  constructor(
    parent: Vars,
    templateName: string | undefined,
    blocks: ReadonlyMap<string, BlockCode>,
    autoescape: boolean,
  ) {
    this.parent = parent;
    this.templateName = templateName;
    this.blocks = new Map();
    for (const [name, code] of blocks) this.blocks.set(name, [code]);
    this.autoescape = autoescape;
  }

  resolve(name: string): PyValue | undefined {
    const own = this.vars.get(name);
    return own === undefined ? this.parent.get(name) : own;
  }

  /** Everything visible; may be the parent itself, so callers must copy before changing. */
  all(): Vars {
    if (this.vars.size === 0) return this.parent;
    const merged: Vars = new Map(this.parent);
    for (const [name, value] of this.vars) merged.set(name, value);
    return merged;
  }

  /** An independent context over the same template with some locals on top. */
  derived(locals: ReadonlyMap<string, PyValue>): Context {
    const context = new Context(withLocals(this.all(), locals), this.templateName, new Map(), this.autoescape);
    for (const [name, codes] of this.blocks) context.blocks.set(name, codes.slice());
    return context;
  }
}

export function withLocals(vars: Vars, locals: ReadonlyMap<string, PyValue>): Vars {
  if (locals.size === 0) return vars;
  const merged: Vars = new Map(vars);
  for (const [name, value] of locals) merged.set(name, value);
  return merged;
}

/** Facts about a template that error reports need. */
export interface TemplateInfo {
  /** The requested name; undefined for text without a name. */
  readonly name: string | undefined;
  /** Identifies it among the templates of the render; names can be relative. */
  readonly key: string | undefined;
  readonly path: string | undefined;
  readonly source: string;
}

/** One call of template code: the top level, a macro, a block, a recursive loop. */
export class Frame {
  readonly rt: Runtime;
  readonly info: TemplateInfo;
  readonly context: Context;
  /** Frame of the enclosing code, whose variables are visible. */
  readonly outer: Frame | undefined;
  readonly location: string;
  readonly slots: (PyValue | undefined)[];
  out = '';
  line: number;
  loopVars: Vars | undefined;
  blockVars: Vars | undefined;
  /** Running timers of `profile` sections. */
  profiles: Map<string, { label: string; at: number }> | undefined;
  /** Text captured for the filter of a filter block. */
  captured: string | undefined;
  /** The parent once an `extends` has run. */
  extending: LoadedTemplate | undefined;

  constructor(
    rt: Runtime,
    info: TemplateInfo,
    context: Context,
    outer: Frame | undefined,
    location: string,
    slotCount: number,
    line: number,
  ) {
    this.rt = rt;
    this.info = info;
    this.context = context;
    this.outer = outer;
    this.location = location;
    this.slots = new Array(slotCount);
    this.line = line;
  }
}
