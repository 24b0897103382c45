// Calls, filters and tests to closures.
import { assertionError, PyError, runtimeError, typeError } from '../errors.ts';
import type { Arguments, Call, Expr, Filter, Test } from '../parser/nodes.ts';
import { callAttribute, getAttribute } from '../runtime/access.ts';
import { call } from '../runtime/callable.ts';
import { PyDict } from '../runtime/dict.ts';
import { toArray, tryIterate } from '../runtime/iterate.ts';
import { textOf } from '../runtime/markup.ts';
import type { Frame, NamedFunction } from '../runtime/runtime.ts';
import { reprText } from '../runtime/text.ts';
import { Undefined } from '../runtime/undefined.ts';
import { type Kwargs, type MaybePromise, type PyValue, typeName } from '../runtime/value.ts';
import { allSync, anyCode, type Code, collect, syncCode } from './code.ts';
import { type CompileFrame, compileAll, type Unit } from './scope.ts';

interface Passed {
  readonly args: PyValue[];
  readonly kwargs: Kwargs | undefined;
}

const callName = 'jinja2.sandbox.SandboxedEnvironment.call()';

function spread(value: PyValue): PyValue[] {
  if (tryIterate(value) === undefined) {
    throw typeError(`Value after * must be an iterable, not ${typeName(value)}`);
  }
  return toArray(value);
}

function spreadNamed(into: Map<string, PyValue>, value: PyValue, where: string): void {
  if (!(value instanceof PyDict)) {
    if (value instanceof Undefined) value.fail();
    throw typeError(`${where} argument after ** must be a mapping, not ${typeName(value)}`);
  }
  for (const [key, item] of value.entries()) {
    const name = textOf(key);
    if (name === undefined) throw typeError('keywords must be strings');
    if (into.has(name)) throw typeError(`${where} got multiple values for keyword argument '${name}'`);
    into.set(name, item);
  }
}

function checkRepeated(node: Arguments): void {
  const seen = new Set<string>();
  for (const { key } of node.kwargs) {
    // Python refuses such generated code when it compiles it, so this is not a template error.
    if (seen.has(key)) throw new PyError('SyntaxError', `keyword argument repeated: ${key}`);
    seen.add(key);
  }
}

/** Evaluates `first` (the filtered value, if any), the arguments, then the spread ones. */
function compileArguments(unit: Unit, node: Arguments, frame: CompileFrame, first: readonly Code[], where: string) {
  checkRepeated(node);
  const positional = [...first, ...compileAll(unit, node.args, frame)];
  const named = compileAll(
    unit,
    node.kwargs.map(({ value }) => value),
    frame,
  );
  const dyn = compileAll(
    unit,
    [node.dynArgs, node.dynKwargs].filter((expr) => expr !== undefined),
    frame,
  );
  const codes = [...positional, ...named, ...dyn];
  const keys = node.kwargs.map(({ key }) => key);
  const hasDynArgs = node.dynArgs !== undefined;
  const hasDynKwargs = node.dynKwargs !== undefined;
  const plain = named.length === 0 && dyn.length === 0;
  const assemble = (values: PyValue[]): Passed => {
    if (plain) return { args: values, kwargs: undefined };
    const args = values.slice(0, positional.length);
    const kwargs = new Map<string, PyValue>();
    keys.forEach((key, index) => {
      kwargs.set(key, values[positional.length + index]!);
    });
    let at = positional.length + named.length;
    if (hasDynArgs) args.push(...spread(values[at++]!));
    if (hasDynKwargs) spreadNamed(kwargs, values[at]!, where);
    return { args, kwargs };
  };
  return { codes, assemble };
}

/** Evaluates the arguments, then invokes. */
function invoking<T extends Passed>(
  codes: readonly Code[],
  assemble: (values: PyValue[]) => T,
  invoke: (passed: T, f: Frame) => MaybePromise<PyValue>,
): (f: Frame) => MaybePromise<PyValue> {
  const runs = allSync(codes);
  if (runs !== undefined) {
    return (f) => {
      const values: PyValue[] = [];
      for (const run of runs) values.push(run(f));
      return invoke(assemble(values), f);
    };
  }
  const all = collect(codes);
  return (f) => {
    const values = all(f);
    return values instanceof Promise ? values.then((later) => invoke(assemble(later), f)) : invoke(assemble(values), f);
  };
}

/** Adds the `caller` of a call block. */
function withCaller(kwargs: Kwargs | undefined, caller: PyValue | undefined): Kwargs | undefined {
  if (caller === undefined) return kwargs;
  const merged = new Map(kwargs);
  if (merged.has('caller')) throw typeError(`${callName} got multiple values for keyword argument 'caller'`);
  merged.set('caller', caller);
  return merged;
}

/** `caller` is the macro that a call block passes. */
export function compileCall(unit: Unit, node: Call, frame: CompileFrame, caller?: (f: Frame) => PyValue): Code {
  const { codes, assemble } = compileArguments(unit, node, frame, [], callName);
  if (node.node.kind === 'Getattr') {
    const { attr } = node.node;
    const owner = unit.expr(node.node.node, frame);
    return compileMethodCall(owner, attr, codes, assemble, caller);
  }
  const target = unit.expr(node.node, frame);
  // The callee is passed as the first value, so that it is evaluated before the arguments.
  return anyCode(
    invoking(
      [target, ...codes],
      ([callee, ...values]) => ({ ...assemble(values), callee: callee! }),
      (passed, f) => call(f.rt, passed.callee, passed.args, withCaller(passed.kwargs, caller?.(f))),
    ),
  );
}

function compileMethodCall(
  owner: Code,
  name: string,
  codes: readonly Code[],
  assemble: (values: PyValue[]) => Passed,
  caller: ((f: Frame) => PyValue) | undefined,
): Code {
  const all = collect(codes);
  const finish = (value: PyValue, values: PyValue[], f: Frame): MaybePromise<PyValue> => {
    const { args, kwargs } = assemble(values);
    return callAttribute(f.rt, value, name, args, withCaller(kwargs, caller?.(f)));
  };
  const run = (value: PyValue, f: Frame): MaybePromise<PyValue> => {
    // The attribute is looked up before the arguments are evaluated; only undefined owners can fail there.
    if (value instanceof Undefined) getAttribute(f.rt, value, name);
    const values = all(f);
    return values instanceof Promise ? values.then((later) => finish(value, later, f)) : finish(value, values, f);
  };
  return anyCode((f) => {
    const value = owner.run(f);
    return value instanceof Promise ? value.then((later) => run(later, f)) : run(value, f);
  });
}

/** Finds a filter or test; unknown ones fail now, or when run if they are below an `if`. */
function lookup(table: ReadonlyMap<string, NamedFunction>, what: string, node: Filter | Test, frame: CompileFrame) {
  const found = table.get(node.name);
  if (found === undefined && !frame.soft) {
    throw assertionError(`No ${what} named ${reprText(node.name)}.`, node.line);
  }
  return found;
}

function applied(
  unit: Unit,
  node: Filter | Test,
  frame: CompileFrame,
  first: Code,
  fn: NamedFunction | undefined,
  what: string,
): Code {
  const where = fn === undefined ? node.name : `${fn.sig.name}()`;
  const { codes, assemble } = compileArguments(unit, node, frame, [first], where);
  if (fn === undefined) {
    const failure = `No ${what} named ${reprText(node.name)} found.`;
    return anyCode(
      invoking(codes, assemble, () => {
        throw runtimeError(failure);
      }),
    );
  }
  const run = invoking(codes, assemble, ({ args, kwargs }, f) => fn.invoke(f.rt, args, kwargs));
  // Synchronous filters keep the expression synchronous.
  if (!fn.waits && allSync(codes) !== undefined) return syncCode(run as (f: Frame) => PyValue);
  return anyCode(run);
}

/** `input` is the text of a filter block when the filter has no operand. */
export function compileFilter(unit: Unit, node: Filter, frame: CompileFrame, input?: Code): Code {
  const fn = lookup(unit.settings.filters, 'filter', node, frame);
  const operand: Expr | undefined = node.node;
  let first: Code;
  if (operand === undefined) first = input!;
  else if (operand.kind === 'Filter') first = compileFilter(unit, operand, frame, input);
  else first = unit.expr(operand, frame);
  return applied(unit, node, frame, first, fn, 'filter');
}

export function compileTest(unit: Unit, node: Test, frame: CompileFrame): Code {
  const fn = lookup(unit.settings.tests, 'test', node, frame);
  return applied(unit, node, frame, unit.expr(node.node, frame), fn, 'test');
}
