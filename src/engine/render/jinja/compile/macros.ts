// Macros and call blocks.
import { assertionError, typeError } from '../errors.ts';
import type { CallBlock, FilterBlock, Macro as MacroNode } from '../parser/nodes.ts';
import { Macro, type MacroBody, type MacroFacts } from '../runtime/macro.ts';
import { textOf } from '../runtime/markup.ts';
import { Frame } from '../runtime/runtime.ts';
import { reprText } from '../runtime/text.ts';
import { type MaybePromise, type PyValue, typeName } from '../runtime/value.ts';
import { captureBody, capturedText } from './assign.ts';
import { compileCall, compileFilter } from './calls.ts';
import type { Code, Step } from './code.ts';
import { withValue } from './code.ts';
import { type CompileFrame, enterFrame, leaveFrame, slotOf, type Unit } from './scope.ts';
import { analyze, findUndeclared } from './symbols.ts';

interface CompiledMacro {
  readonly facts: MacroFacts;
  /** Binds the body to the frame in which the macro is defined. */
  readonly bind: (f: Frame) => MacroBody;
}

interface Special {
  readonly caller: boolean;
  readonly kwargs: boolean;
  readonly varargs: boolean;
}

/** Declares the hidden parameters that a body mentions. */
function specialParameters(node: MacroNode | CallBlock, inner: CompileFrame, slots: number[]): Special {
  const names = node.args.map(({ name }) => name);
  const undeclared = findUndeclared(node.body, ['caller', 'kwargs', 'varargs']);
  const declare = (name: string): void => {
    slots.push(inner.fn.locate(inner.symbols.declareParameter(name)).index);
  };
  const caller = undeclared.has('caller');
  if (caller) {
    const explicit = names.indexOf('caller');
    if (explicit < 0) declare('caller');
    else if (explicit < names.length - node.defaults.length) {
      const problem =
        'When defining macros or call blocks the special "caller" argument must be omitted or be given a default.';
      throw assertionError(problem, node.line);
    }
  }
  const kwargs = undeclared.has('kwargs') && !names.includes('kwargs');
  if (kwargs) declare('kwargs');
  const varargs = undeclared.has('varargs') && !names.includes('varargs');
  if (varargs) declare('varargs');
  return { caller, kwargs, varargs };
}

interface Default {
  readonly index: number;
  readonly name: string;
  readonly code: Code | undefined;
}

function compileMacroBody(unit: Unit, node: MacroNode | CallBlock, frame: CompileFrame): CompiledMacro {
  const inner = frame.innerFunction();
  const parts = [...node.args, ...node.defaults, ...node.body];
  analyze(inner.symbols, parts);
  const slots = node.args.map(({ name }) => slotOf(inner, name));
  const special = specialParameters(node, inner, slots);
  inner.requireOutputCheck = false;
  analyze(inner.symbols, parts);
  unit.line = node.line;
  const enter = enterFrame(inner);
  const offset = node.args.length - node.defaults.length;
  const defaults: Default[] = node.args.map(({ name }, at) => {
    const fallback = node.defaults[at - offset];
    return { index: slots[at]!, name, code: fallback === undefined ? undefined : unit.expr(fallback, inner) };
  });
  const body = unit.body(node.body, inner);
  const facts: MacroFacts = {
    name: node.kind === 'Macro' ? node.name : null,
    args: node.args.map(({ name }) => name),
    catchKwargs: special.kwargs,
    catchVarargs: special.varargs,
    caller: special.caller,
  };
  const { line } = node;
  const { fn } = inner;
  const bind =
    (f: Frame): MacroBody =>
    (values) => {
      const own = new Frame(f.rt, f.info, f.context, f, 'template', fn.size, line);
      f.rt.enter(own);
      slots.forEach((slot, at) => {
        own.slots[slot] = values[at];
      });
      enter(own);
      return finishMacro(own, fillDefaults(own, defaults, 0), body);
    };
  return { facts, bind };
}

/** Gives missing arguments their defaults, left to right; a default may use earlier arguments. */
function fillDefaults(f: Frame, defaults: readonly Default[], start: number): MaybePromise<undefined> {
  for (let at = start; at < defaults.length; at += 1) {
    const { index, name, code } = defaults[at]!;
    if (f.slots[index] !== undefined) continue;
    if (code === undefined) {
      f.slots[index] = f.rt.undefined({ hint: `parameter ${reprText(name)} was not provided`, name });
      continue;
    }
    const value = code.run(f);
    if (value instanceof Promise) {
      return value.then((later) => {
        f.slots[index] = later;
        return fillDefaults(f, defaults, at + 1);
      });
    }
    f.slots[index] = value;
  }
  return undefined;
}

function finishMacro(f: Frame, ready: MaybePromise<undefined>, body: Step): MaybePromise<string> {
  const finish = (): string => {
    f.rt.leave();
    return f.out;
  };
  const run = (): MaybePromise<string> => {
    const result = body(f);
    return result instanceof Promise ? result.then(finish) : finish();
  };
  return ready instanceof Promise ? ready.then(run) : run();
}

export function compileMacro(unit: Unit, node: MacroNode, frame: CompileFrame): Step {
  const { facts, bind } = compileMacroBody(unit, node, frame);
  const { name } = node;
  const slot = slotOf(frame, name);
  const { toplevel } = frame;
  const open = !name.startsWith('_');
  return (f) => {
    const macro = new Macro(facts, bind(f));
    f.slots[slot] = macro;
    if (toplevel) {
      if (open) f.context.exported.add(name);
      f.context.vars.set(name, macro);
    }
    return undefined;
  };
}

export function compileCallBlock(unit: Unit, node: CallBlock, frame: CompileFrame): Step {
  const { facts, bind } = compileMacroBody(unit, node, frame);
  unit.line = node.line;
  const { line } = node;
  const call = compileCall(unit, node.call, frame, (f) => new Macro(facts, bind(f)));
  return writing(call, line);
}

/** Writes the result of a call or filter block, which must be text: it does not pass the finalizer. */
function writing(code: Code, line: number): Step {
  const step = withValue(code, (value: PyValue, f) => {
    const text = textOf(value);
    if (text === undefined) throw typeError(`sequence item 0: expected str instance, ${typeName(value)} found`);
    f.out += text;
    return undefined;
  });
  return (f) => {
    f.line = line;
    return step(f);
  };
}

export function compileFilterBlock(unit: Unit, node: FilterBlock, frame: CompileFrame): Step {
  const inner = frame.inner();
  analyze(inner.symbols, [...node.body, node.filter]);
  const enter = enterFrame(inner);
  const body = unit.body(node.body, inner);
  unit.line = node.line;
  const write = writing(compileFilter(unit, node.filter, inner, capturedText), node.line);
  const leave = leaveFrame(inner);
  return captureBody(enter, body, (text, f) => {
    f.captured = text;
    const result = write(f);
    const done = (): undefined => leave(f) as undefined;
    return result instanceof Promise ? result.then(done) : done();
  });
}
