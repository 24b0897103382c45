// The variables a template sees, and one running piece of template code.
import type { LoadedTemplate, Runtime } from './runtime.ts';
import type { MaybePromise, PyValue } from './value.ts';

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
  /** The name it was asked for by; undefined for text without a name. */
  readonly name: string | undefined;
  /** What tells it from other templates of the render; names can be relative. */
  readonly key: string | undefined;
  readonly path: string | undefined;
  readonly source: string;
}

/** One call of template code: the top level, a macro, a block, a recursive loop. */
export class Frame {
  readonly rt: Runtime;
  readonly info: TemplateInfo;
  readonly context: Context;
  /** Frame of the code this one is nested in, whose variables it sees. */
  readonly outer: Frame | undefined;
  readonly location: string;
  readonly slots: (PyValue | undefined)[];
  out = '';
  line: number;
  loopVars: Vars | undefined;
  blockVars: Vars | undefined;
  /** Running timers of `profile` sections. */
  profiles: Map<string, { label: string; at: number }> | undefined;
  /** Text set aside for the filter of a filter block. */
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
