// Expressions to closures.

import type { BinaryOperator, CompareOperator, CondExpr, Expr, Name } from '../parser/nodes.ts';
import { getAttribute, getItem } from '../runtime/access.ts';
import { add, div, floordiv, mod, mul, negate, positive, pow, sub } from '../runtime/arith.ts';
import { contains, eq, ordered } from '../runtime/compare.ts';
import { PyDict } from '../runtime/dict.ts';
import { truth } from '../runtime/iterate.ts';
import { escapeHtml, Markup } from '../runtime/markup.ts';
import { dictMethods } from '../runtime/methods/dict.ts';
import { str } from '../runtime/print.ts';
import type { Frame } from '../runtime/runtime.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { slice } from '../runtime/slice.ts';
import { Undefined } from '../runtime/undefined.ts';
import { chain, type MaybePromise, type PyValue } from '../runtime/value.ts';
import { compileCall, compileFilter, compileTest } from './calls.ts';
import { anyCode, type Code, constant, map1, map2, mapAll, syncCode } from './code.ts';
import { type CompileFrame, compileAll, readerOf, type Unit } from './scope.ts';

type Operator = (left: PyValue, right: PyValue) => PyValue;

const binary: Readonly<Record<BinaryOperator, Operator>> = { add, sub, mul, div, floordiv, mod, pow };
const comparisons: Readonly<Record<CompareOperator, Operator>> = {
  eq: (a, b) => eq(a, b),
  ne: (a, b) => !eq(a, b),
  lt: (a, b) => ordered('<', a, b),
  lteq: (a, b) => ordered('<=', a, b),
  gt: (a, b) => ordered('>', a, b),
  gteq: (a, b) => ordered('>=', a, b),
  in: (a, b) => contains(b, a),
  notin: (a, b) => !contains(b, a),
};

export function compileExpr(unit: Unit, node: Expr, frame: CompileFrame): Code {
  switch (node.kind) {
    case 'Const':
      return constant(node.value);
    case 'TemplateData':
      return constant(node.data);
    case 'Name':
      return compileName(node, frame);
    case 'Getattr':
      return compileGetattr(compileExpr(unit, node.node, frame), node.attr);
    case 'Getitem':
      return compileGetitem(unit, node.node, node.arg, frame);
    case 'Call':
      return compileCall(unit, node, frame);
    case 'Filter':
      return compileFilter(unit, node, frame);
    case 'Test':
      return compileTest(unit, node, frame);
    case 'Binary': {
      const op = binary[node.op];
      return map2(compileExpr(unit, node.left, frame), compileExpr(unit, node.right, frame), (a, b) => op(a, b));
    }
    case 'Concat':
      return mapAll(compileAll(unit, node.nodes, frame), unit.escapes ? joinEscaped : joinPlain);
    case 'CondExpr':
      return compileCondition(unit, node, frame.softened());
    case 'Tuple':
      return mapAll(compileAll(unit, node.items, frame), (values) => new PyTuple(values));
    case 'List':
      return mapAll(compileAll(unit, node.items, frame), (values) => values);
    case 'Dict':
      return compileDict(unit, node.items, frame);
    case 'Not':
      return map1(compileExpr(unit, node.node, frame), (value) => !truth(value));
    case 'Neg':
      return map1(compileExpr(unit, node.node, frame), negate);
    case 'Pos':
      return map1(compileExpr(unit, node.node, frame), positive);
    case 'And':
    case 'Or':
      return compileLogic(unit, node, frame);
    case 'Compare':
      return compileCompare(unit, node, frame);
    default:
      return constant(null);
  }
}

function compileName(node: Name, frame: CompileFrame): Code {
  const { name } = node;
  const read = readerOf(frame, frame.symbols.ref(name));
  return syncCode((f) => {
    const value = read(f);
    return value === undefined ? f.rt.undefined({ name }) : value;
  });
}

function compileGetattr(owner: Code, name: string): Code {
  // Most attributes are dict keys; names of dict methods and private names use the slower path.
  const plainKey = !dictMethods.has(name) && name.charCodeAt(0) !== 95 && name !== 'move_to_end';
  if (!plainKey) return map1(owner, (value, f) => getAttribute(f.rt, value, name));
  return map1(owner, (value, f) => {
    if (value instanceof PyDict) {
      const item = value.get(name);
      if (item !== undefined) return item;
    }
    return getAttribute(f.rt, value, name);
  });
}

function compileGetitem(unit: Unit, node: Expr, arg: Expr, frame: CompileFrame): Code {
  const owner = compileExpr(unit, node, frame);
  if (arg.kind === 'Slice') {
    const none = constant(null);
    const part = (expr: Expr | undefined): Code => (expr === undefined ? none : compileExpr(unit, expr, frame));
    return mapAll([owner, part(arg.start), part(arg.stop), part(arg.step)], ([value, start, stop, step]) =>
      slice(value!, start, stop, step),
    );
  }
  return map2(owner, compileExpr(unit, arg, frame), (value, key, f) => getItem(f.rt, value, key));
}

const joinPlain = (values: PyValue[]): PyValue => {
  let text = '';
  for (const value of values) text += str(value);
  return text;
};

/** With autoescaping, one safe part makes the whole safe and the others are escaped. */
const joinEscaped = (values: PyValue[], f: Frame): PyValue => {
  if (!f.context.autoescape || !values.some((value) => value instanceof Markup)) return joinPlain(values);
  return new Markup(values.map((value) => (value instanceof Markup ? value.text : escapeHtml(str(value)))).join(''));
};

function compileDict(unit: Unit, items: readonly { key: Expr; value: Expr }[], frame: CompileFrame): Code {
  const parts = items.flatMap(({ key, value }) => [compileExpr(unit, key, frame), compileExpr(unit, value, frame)]);
  return mapAll(parts, (values) => {
    const dict = new PyDict();
    for (let at = 0; at < values.length; at += 2) dict.set(values[at]!, values[at + 1]!);
    return dict;
  });
}

/** A conditional; without `else` its value is the lenient undefined, whatever the environment uses. */
function compileCondition(unit: Unit, node: CondExpr, frame: CompileFrame): Code {
  const yes = compileExpr(unit, node.yes, frame);
  const test = compileExpr(unit, node.test, frame);
  const no = node.no === undefined ? missingElse(node.line) : compileExpr(unit, node.no, frame);
  if (yes.sync !== undefined && test.sync !== undefined && no.sync !== undefined) {
    const [a, condition, b] = [yes.sync, test.sync, no.sync];
    return syncCode((f) => (truth(condition(f)) ? a(f) : b(f)));
  }
  return anyCode((f) => {
    const value = test.run(f);
    if (value instanceof Promise) return value.then((later) => (truth(later) ? yes : no).run(f));
    return (truth(value) ? yes : no).run(f);
  });
}

function missingElse(line: number): Code {
  return syncCode((f) => {
    const place = f.info.name === undefined ? `line ${line}` : `line ${line} in '${f.info.name}'`;
    const hint = `the inline if-expression on ${place} evaluated to false and no else section was defined.`;
    return new Undefined(false, { hint });
  });
}

function compileLogic(unit: Unit, node: Extract<Expr, { kind: 'And' | 'Or' }>, frame: CompileFrame): Code {
  const left = compileExpr(unit, node.left, frame);
  const right = compileExpr(unit, node.right, frame);
  const stops = node.kind === 'Or';
  if (left.sync !== undefined && right.sync !== undefined) {
    const [a, b] = [left.sync, right.sync];
    return syncCode((f) => {
      const value = a(f);
      return truth(value) === stops ? value : b(f);
    });
  }
  return anyCode((f) => {
    const value = left.run(f);
    if (value instanceof Promise) return value.then((later) => (truth(later) === stops ? later : right.run(f)));
    return truth(value) === stops ? value : right.run(f);
  });
}

function compileCompare(unit: Unit, node: Extract<Expr, { kind: 'Compare' }>, frame: CompileFrame): Code {
  const first = compileExpr(unit, node.expr, frame);
  const rest = node.ops.map(({ op, expr }) => ({ op: comparisons[op], code: compileExpr(unit, expr, frame) }));
  if (rest.length === 1) {
    const { op, code } = rest[0]!;
    return map2(first, code, (a, b) => op(a, b));
  }
  return compareChain(first, rest);
}

/** `a < b < c`: every operand once, stopping at the first comparison that fails. */
function compareChain(first: Code, rest: readonly { op: Operator; code: Code }[]): Code {
  const runs = rest.map(({ code }) => code.sync);
  if (first.sync !== undefined && runs.every((run) => run !== undefined)) {
    const start = first.sync;
    return syncCode((f) => {
      let left = start(f);
      let result: PyValue = true;
      for (let at = 0; at < rest.length; at += 1) {
        const right = runs[at]!(f);
        result = rest[at]!.op(left, right);
        if (!truth(result)) return result;
        left = right;
      }
      return result;
    });
  }
  const from = (f: Frame, left: PyValue, at: number): MaybePromise<PyValue> => {
    const { op, code } = rest[at]!;
    const next = (right: PyValue): MaybePromise<PyValue> => {
      const result = op(left, right);
      return at === rest.length - 1 || !truth(result) ? result : from(f, right, at + 1);
    };
    return chain(code.run(f), next);
  };
  return anyCode((f) => chain(first.run(f), (left) => from(f, left, 0)));
}
