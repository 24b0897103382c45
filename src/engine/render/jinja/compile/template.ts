// A whole template: its top-level code, its blocks, and the loaded form for rendering.
import { assertionError } from '../errors.ts';
import { type Block, type Stmt, visitNodes } from '../parser/nodes.ts';
import { blockAt, TemplateReference } from '../runtime/objects.ts';
import type { EngineSettings, LoadedTemplate, Runtime } from '../runtime/runtime.ts';
import { type BlockCode, Context, Frame, type TemplateInfo, type Vars, withLocals } from '../runtime/runtime.ts';
import { reprText } from '../runtime/text.ts';
import type { MaybePromise, PyObject, PyValue } from '../runtime/value.ts';
import type { Step } from './code.ts';
import { compileExpr } from './expressions.ts';
import { CompileFrame, enterFrame, FunctionScope, type Unit } from './scope.ts';
import { compileBody } from './statements.ts';
import { analyze, findUndeclared, Symbols } from './symbols.ts';

interface CompiledBlock {
  readonly fn: FunctionScope;
  readonly line: number;
  readonly enter: (f: Frame) => void;
  readonly body: Step;
  readonly selfSlot: number | undefined;
  readonly superSlot: number | undefined;
}

/** Compiled once per source and settings; contains no data of any render. */
export interface CompiledTemplate {
  readonly root: CompiledBlock;
  readonly blocks: ReadonlyMap<string, CompiledBlock>;
}

interface Survey {
  readonly blocks: Map<string, Block>;
  extending: boolean;
  escaping: boolean;
}

/** Facts about the whole template that are needed before any of it is compiled. */
function survey(nodes: readonly Stmt[]): Survey {
  const found: Survey = { blocks: new Map(), extending: false, escaping: false };
  visitNodes(nodes, (node) => {
    if (node.kind === 'Extends') found.extending = true;
    else if (node.kind === 'AutoEscape') found.escaping = true;
    else if (node.kind === 'Block') {
      if (found.blocks.has(node.name)) throw assertionError(`block ${reprText(node.name)} defined twice`, node.line);
      found.blocks.set(node.name, node);
    }
  });
  return found;
}

function newFrame(): CompileFrame {
  return new CompileFrame(new Symbols(undefined), new FunctionScope(undefined, 0));
}

/** Declares `self` (and `super` in blocks) where the body mentions them. */
function declare(frame: CompileFrame, name: string, mentioned: ReadonlySet<string>): number | undefined {
  return mentioned.has(name) ? frame.fn.locate(frame.symbols.declareParameter(name)).index : undefined;
}

function compileRoot(unit: Unit, nodes: readonly Stmt[], extending: boolean): CompiledBlock {
  const frame = newFrame();
  const selfSlot = declare(frame, 'self', findUndeclared(nodes, ['self']));
  analyze(frame.symbols, nodes);
  frame.toplevel = true;
  frame.rootlevel = true;
  frame.requireOutputCheck = extending;
  const enter = enterFrame(frame);
  const body = unit.body(nodes, frame);
  return { fn: frame.fn, line: 1, enter, body, selfSlot, superSlot: undefined };
}

function compileBlock(unit: Unit, block: Block): CompiledBlock {
  const frame = newFrame();
  frame.blockFrame = true;
  const mentioned = findUndeclared(block.body, ['self', 'super']);
  const selfSlot = declare(frame, 'self', mentioned);
  const superSlot = declare(frame, 'super', mentioned);
  analyze(frame.symbols, block.body);
  unit.line = block.line;
  const enter = enterFrame(frame);
  const body = unit.body(block.body, frame);
  return { fn: frame.fn, line: block.line, enter, body, selfSlot, superSlot };
}

/** Compiles a syntax tree. */
export function compileTemplate(settings: EngineSettings, nodes: readonly Stmt[]): CompiledTemplate {
  const { blocks: found, extending, escaping } = survey(nodes);
  const unit: Unit = {
    settings,
    expr: (node, frame) => compileExpr(unit, node, frame),
    body: (body, frame) => compileBody(unit, body, frame),
    blocks: found,
    escapes: settings.autoescape || escaping,
    line: 1,
    extendsSoFar: 0,
    knownExtends: false,
  };
  const root = compileRoot(unit, nodes, extending);
  const blocks = new Map<string, CompiledBlock>();
  for (const [name, block] of unit.blocks) blocks.set(name, compileBlock(unit, block));
  return { root, blocks };
}

/** A template in one render: name, source and blocks bound to the compiled code. */
export class Template implements LoadedTemplate {
  readonly info: TemplateInfo;
  readonly #compiled: CompiledTemplate;
  readonly blocks: ReadonlyMap<string, BlockCode>;
  module: PyObject | undefined;

  constructor(info: TemplateInfo, compiled: CompiledTemplate) {
    this.info = info;
    this.#compiled = compiled;
    const blocks = new Map<string, BlockCode>();
    for (const [name, block] of compiled.blocks) {
      const code: BlockCode = (context, rt) => this.#renderBlock(rt, context, name, block, code);
      blocks.set(name, code);
    }
    this.blocks = blocks;
  }

  get name(): string | undefined {
    return this.info.name;
  }

  newContext(
    rt: Runtime,
    vars: Vars | undefined,
    shared: boolean,
    locals: ReadonlyMap<string, PyValue> = noLocals,
  ): Context {
    let parent: Vars;
    if (shared) parent = vars ?? new Map();
    else {
      parent = new Map(rt.globals);
      if (vars !== undefined) for (const [name, value] of vars) parent.set(name, value);
    }
    return new Context(withLocals(parent, locals), this.name, this.blocks, rt.settings.autoescape);
  }

  renderRoot(rt: Runtime, context: Context): MaybePromise<string> {
    const { root } = this.#compiled;
    const frame = new Frame(rt, this.info, context, undefined, 'top-level template code', root.fn.size, root.line);
    rt.enter(frame);
    if (root.selfSlot !== undefined) frame.slots[root.selfSlot] = new TemplateReference(context);
    root.enter(frame);
    const finish = (): MaybePromise<string> => {
      const parent = frame.extending;
      if (parent === undefined) {
        rt.leave();
        return frame.out;
      }
      const text = parent.renderRoot(rt, context);
      const done = (later: string): string => {
        rt.leave();
        return frame.out + later;
      };
      return text instanceof Promise ? text.then(done) : done(text);
    };
    const result = root.body(frame);
    return result instanceof Promise ? result.then(finish) : finish();
  }

  #renderBlock(
    rt: Runtime,
    context: Context,
    name: string,
    block: CompiledBlock,
    self: BlockCode,
  ): MaybePromise<string> {
    const frame = new Frame(rt, this.info, context, undefined, `block ${reprText(name)}`, block.fn.size, block.line);
    rt.enter(frame);
    frame.blockVars = new Map();
    if (block.selfSlot !== undefined) frame.slots[block.selfSlot] = new TemplateReference(context);
    if (block.superSlot !== undefined) {
      const stack = context.blocks.get(name) ?? [];
      const at = stack.indexOf(self);
      frame.slots[block.superSlot] = blockAt(rt, name, context, stack, at < 0 ? stack.length : at + 1);
    }
    block.enter(frame);
    const finish = (): string => {
      rt.leave();
      return frame.out;
    };
    const result = block.body(frame);
    return result instanceof Promise ? result.then(finish) : finish();
  }
}

const noLocals: ReadonlyMap<string, PyValue> = new Map();
