// Assignment: targets, exports to the template's context, `set` in both forms.
import { PyError, runtimeError, typeError } from '../errors.ts';
import type { Assign, AssignBlock, Target } from '../parser/nodes.ts';
import { visitNodes } from '../parser/nodes.ts';
import { unpack } from '../runtime/iterate.ts';
import { Markup } from '../runtime/markup.ts';
import { Namespace } from '../runtime/objects.ts';
import type { Frame } from '../runtime/runtime.ts';
import type { PyValue } from '../runtime/value.ts';
import { compileFilter } from './calls.ts';
import { type Code, type Step, syncCode, withValue } from './code.ts';
import { type CompileFrame, enterFrame, leaveFrame, readerOf, slotOf, type Unit } from './scope.ts';
import { analyze } from './symbols.ts';

export type Store = (f: Frame, value: PyValue) => void;

/** Puts a value into a name, a namespace attribute or the parts of a tuple. */
export function storeTo(target: Target, frame: CompileFrame): Store {
  if (target.kind === 'Name') {
    const index = slotOf(frame, target.name);
    return (f, value) => {
      f.slots[index] = value;
    };
  }
  if (target.kind === 'NSRef') {
    const read = readerOf(frame, frame.symbols.ref(target.name));
    const { attr } = target;
    return (f, value) => {
      const owner = read(f);
      if (!(owner instanceof Namespace)) throw typeError('cannot assign to this object');
      owner.values.set(attr, value);
    };
  }
  const stores = target.items.map((item) => storeTo(item as Target, frame));
  return (f, value) => {
    const parts = unpack(value, stores.length);
    stores.forEach((store, index) => {
      store(f, parts[index]!);
    });
  };
}

/** Names that a target sets, in order. */
function targetNames(target: Target): string[] {
  if (target.kind === 'Name') return [target.name];
  return target.kind === 'Tuple' ? target.items.flatMap((item) => targetNames(item as Target)) : [];
}

/** Makes assigned names visible to the context: exports at top level, side tables in loops and blocks. */
function publish(names: readonly string[], frame: CompileFrame): ((f: Frame) => void) | undefined {
  if (names.length === 0 || !(frame.toplevel || frame.loopFrame || frame.blockFrame)) return undefined;
  const entries = names.map((name) => ({ name, index: slotOf(frame, name), open: !name.startsWith('_') }));
  if (frame.loopFrame || frame.blockFrame) {
    const { loopFrame } = frame;
    return (f) => {
      const vars = loopFrame ? f.loopVars : f.blockVars;
      for (const { name, index } of entries) vars?.set(name, f.slots[index]!);
    };
  }
  return (f) => {
    for (const { name, index, open } of entries) {
      f.context.vars.set(name, f.slots[index]!);
      if (open) f.context.exported.add(name);
    }
  };
}

/** Objects behind `ns.attr` targets must be namespaces; checked before the value is evaluated. */
function namespaceCheck(target: Target, frame: CompileFrame, line: number): ((f: Frame) => void) | undefined {
  const names = new Set<string>();
  visitNodes([target], (node) => {
    if (node.kind === 'NSRef') names.add(node.name);
  });
  if (names.size === 0) return undefined;
  const readers = [...names].map((name) => readerOf(frame, frame.symbols.ref(name)));
  return (f) => {
    f.line = line;
    for (const read of readers) {
      if (!(read(f) instanceof Namespace)) throw runtimeError('cannot assign attribute on non-namespace object');
    }
  };
}

export function compileAssign(unit: Unit, node: Assign, frame: CompileFrame): Step {
  const check = namespaceCheck(node.target, frame, unit.line);
  unit.line = node.line;
  const { line } = node;
  const store = storeTo(node.target, frame);
  const value = unit.expr(node.node, frame);
  const done = publish(targetNames(node.target), frame);
  const finish = (result: PyValue, f: Frame): undefined => {
    store(f, result);
    done?.(f);
  };
  const step = withValue(value, finish);
  return (f) => {
    check?.(f);
    f.line = line;
    return step(f);
  };
}

export function compileAssignBlock(unit: Unit, node: AssignBlock, frame: CompileFrame): Step {
  const inner = frame.inner();
  inner.requireOutputCheck = false;
  analyze(inner.symbols, node.body);
  const enter = enterFrame(inner);
  const body = unit.body(node.body, inner);
  unit.line = node.line;
  const { line } = node;
  const store = storeTo(node.target, frame);
  const filter = node.filter === undefined ? undefined : compileFilter(unit, node.filter, inner, capturedText);
  const done = publish(targetNames(node.target), frame);
  const leave = leaveFrame(inner);
  const finish = (value: PyValue, f: Frame): undefined => {
    store(f, f.context.autoescape && typeof value === 'string' ? new Markup(value) : value);
    done?.(f);
    leave(f);
  };
  return captureBody(enter, body, (text, f) => {
    f.line = line;
    if (filter === undefined) return finish(text, f);
    f.captured = text;
    return withValue(filter, finish)(f);
  });
}

/** The text that a filter block or filtered `set` passes to its filter. */
export const capturedText: Code = syncCode((f) => {
  if (f.captured === undefined) throw new PyError('RuntimeError', 'no text was captured');
  return f.context.autoescape ? new Markup(f.captured) : f.captured;
});

/** Runs a body with its output captured, then continues with that text; `break` inside drops it. */
export function captureBody(
  enter: (f: Frame) => void,
  body: Step,
  next: (text: string, f: Frame) => ReturnType<Step>,
): Step {
  return (f) => {
    enter(f);
    const before = f.out;
    f.out = '';
    const finish = (signal: 1 | 2 | undefined): ReturnType<Step> => {
      const text = f.out;
      f.out = before;
      return signal === undefined ? next(text, f) : signal;
    };
    const result = body(f);
    return result instanceof Promise ? result.then(finish) : finish(result);
  };
}
