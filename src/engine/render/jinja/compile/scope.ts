// Compile-time frames and the slots in which a part of a template stores its variables.

import type { Block, Expr, Stmt } from '../parser/nodes.ts';
import type { EngineSettings, Frame } from '../runtime/runtime.ts';
import type { PyValue } from '../runtime/value.ts';
import type { Code, Step } from './code.ts';
import { type Load, Symbols } from './symbols.ts';

/** One function of the generated code (top level, macro, block, recursive loop) with its variables. */
export class FunctionScope {
  readonly baseLevel: number;
  readonly parent: FunctionScope | undefined;
  readonly #slots = new Map<string, number>();

  constructor(parent: FunctionScope | undefined, baseLevel: number) {
    this.parent = parent;
    this.baseLevel = baseLevel;
  }

  get size(): number {
    return this.#slots.size;
  }

  #slot(ident: string): number {
    let index = this.#slots.get(ident);
    if (index === undefined) {
      index = this.#slots.size;
      this.#slots.set(ident, index);
    }
    return index;
  }

  /** The location of a variable: how many functions outward, and its slot there. */
  locate(ident: string): { depth: number; index: number } {
    const level = Number.parseInt(ident, 10);
    let depth = 0;
    let scope: FunctionScope = this;
    while (level < scope.baseLevel && scope.parent !== undefined) {
      scope = scope.parent;
      depth += 1;
    }
    return { depth, index: scope.#slot(ident) };
  }
}

/** What the compiler knows about its current position. */
export class CompileFrame {
  readonly symbols: Symbols;
  readonly fn: FunctionScope;
  toplevel = false;
  rootlevel = false;
  loopFrame = false;
  blockFrame = false;
  /** Inside an `if`: unknown filters are reported when they run. */
  soft = false;
  requireOutputCheck = false;
  inLoop = false;

  constructor(symbols: Symbols, fn: FunctionScope) {
    this.symbols = symbols;
    this.fn = fn;
  }

  inner(): CompileFrame {
    const frame = new CompileFrame(new Symbols(this.symbols), this.fn);
    frame.requireOutputCheck = this.requireOutputCheck;
    frame.inLoop = this.inLoop;
    return frame;
  }

  /** A frame for code in a nested function. */
  innerFunction(): CompileFrame {
    const symbols = new Symbols(this.symbols);
    const frame = new CompileFrame(symbols, new FunctionScope(this.fn, symbols.level));
    frame.requireOutputCheck = this.requireOutputCheck;
    return frame;
  }

  /** A sibling frame: the `else` of a loop. */
  sibling(inLoop: boolean): CompileFrame {
    const frame = new CompileFrame(new Symbols(this.symbols.parent), this.fn);
    frame.requireOutputCheck = this.requireOutputCheck;
    frame.inLoop = inLoop;
    return frame;
  }

  softened(): CompileFrame {
    const frame = new CompileFrame(this.symbols.copy(), this.fn);
    frame.toplevel = this.toplevel;
    frame.loopFrame = this.loopFrame;
    frame.blockFrame = this.blockFrame;
    frame.requireOutputCheck = this.requireOutputCheck;
    frame.inLoop = this.inLoop;
    frame.soft = true;
    return frame;
  }
}

/** State of one compilation, and the entry points for all kinds of nodes. */
export interface Unit {
  readonly settings: EngineSettings;
  readonly expr: (node: Expr, frame: CompileFrame) => Code;
  readonly body: (nodes: readonly Stmt[], frame: CompileFrame) => Step;
  readonly blocks: Map<string, Block>;
  /** True when the template can enable autoescaping. */
  readonly escapes: boolean;
  /** The line for generated code without its own position, as the reference records it. */
  line: number;
  extendsSoFar: number;
  knownExtends: boolean;
}

export function compileAll(unit: Unit, nodes: readonly Expr[], frame: CompileFrame): Code[] {
  return nodes.map((node) => unit.expr(node, frame));
}

/** Reads a variable; undefined means it is not set. */
export function readerOf(frame: CompileFrame, ident: string): (f: Frame) => PyValue | undefined {
  const { depth, index } = frame.fn.locate(ident);
  if (depth === 0) return (f) => f.slots[index];
  if (depth === 1) return (f) => f.outer!.slots[index];
  return (f) => {
    let at = f;
    for (let level = 0; level < depth; level += 1) at = at.outer!;
    return at.slots[index];
  };
}

/** Slot of a variable that belongs to the current function. */
export function slotOf(frame: CompileFrame, name: string): number {
  return frame.fn.locate(frame.symbols.ref(name)).index;
}

/** Sets the initial values of the variables of a frame. */
export function enterFrame(frame: CompileFrame): (f: Frame) => void {
  const actions: ((f: Frame) => void)[] = [];
  const cleared: number[] = [];
  for (const [ident, load] of frame.symbols.loads) {
    const { index } = frame.fn.locate(ident);
    const action = loadAction(frame, index, load);
    if (action !== undefined) actions.push(action);
    else if (load.kind === 'undefined') cleared.push(index);
  }
  if (actions.length === 0 && cleared.length === 0) return () => {};
  return (f) => {
    for (const action of actions) action(f);
    for (const index of cleared) f.slots[index] = undefined;
  };
}

function loadAction(frame: CompileFrame, index: number, load: Load): ((f: Frame) => void) | undefined {
  if (load.kind === 'resolve') {
    const { name } = load;
    return (f) => {
      f.slots[index] = f.context.resolve(name);
    };
  }
  if (load.kind === 'alias') {
    const read = readerOf(frame, load.of);
    return (f) => {
      f.slots[index] = read(f);
    };
  }
  return undefined;
}

/** Clears the variables of a frame that shares its function with the following code. */
export function leaveFrame(frame: CompileFrame): (f: Frame) => void {
  const indexes = [...frame.symbols.loads.keys()].map((ident) => frame.fn.locate(ident).index);
  return (f) => {
    for (const index of indexes) f.slots[index] = undefined;
  };
}

/** The local variables that an include or import with context passes. */
export function localsOf(frame: CompileFrame): (f: Frame) => Map<string, PyValue> {
  const readers = [...frame.symbols.allStores()].map(([name, ident]) => [name, readerOf(frame, ident)] as const);
  return (f) => {
    const locals = new Map<string, PyValue>();
    for (const [name, read] of readers) {
      const value = read(f);
      if (value !== undefined) locals.set(name, value);
    }
    return locals;
  };
}
