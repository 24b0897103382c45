// Printing: text as it stands, expressions through the finalizer.

import type { Expr, Output } from '../parser/nodes.ts';
import { childrenOf } from '../parser/nodes.ts';
import { escapeHtml, Markup } from '../runtime/markup.ts';
import type { Frame } from '../runtime/runtime.ts';
import type { PyValue } from '../runtime/value.ts';
import { type Code, type Step, sequence, withValue } from './code.ts';
import type { CompileFrame, Unit } from './scope.ts';

/** True when the reference folds the expression at compile time, which changes where it records lines. */
function foldable(unit: Unit, node: Expr): boolean {
  switch (node.kind) {
    case 'Name':
    case 'NSRef':
    case 'Call':
    case 'Slice':
      return false;
    case 'Filter':
      if (node.node === undefined || contextual.has(node.name) || !unit.settings.filters.has(node.name)) return false;
      break;
    case 'Test':
      if (!unit.settings.tests.has(node.name)) return false;
      break;
    case 'CondExpr':
      if (node.no === undefined) return false;
      break;
    default:
  }
  return childrenOf(node).every((child) => foldable(unit, child as Expr));
}

const contextual = new Set(['map', 'select', 'reject', 'selectattr', 'rejectattr', 'random']);

function printer(unit: Unit): (value: PyValue, f: Frame) => string {
  const { finalize } = unit.settings;
  if (!unit.escapes) return (value) => (typeof value === 'string' ? value : finalize(value));
  return (value, f) => {
    if (!f.context.autoescape) return finalize(value);
    return value instanceof Markup ? value.text : escapeHtml(finalize(value));
  };
}

function printStep(code: Code, line: number, print: (value: PyValue, f: Frame) => string): Step {
  const { sync } = code;
  if (sync !== undefined) {
    return (f) => {
      f.line = line;
      f.out += print(sync(f), f);
      return undefined;
    };
  }
  const step = withValue(code, (value, f) => {
    f.out += print(value, f);
    return undefined;
  });
  return (f) => {
    f.line = line;
    return step(f);
  };
}

export function compileOutput(unit: Unit, node: Output, frame: CompileFrame): Step {
  if (frame.requireOutputCheck && unit.knownExtends) return () => undefined;
  const print = printer(unit);
  const steps: Step[] = [];
  let text = '';
  const flush = (): void => {
    if (text === '') return;
    const ready = text;
    steps.push((f) => {
      f.out += ready;
      return undefined;
    });
    text = '';
  };
  for (const child of node.nodes) {
    if (child.kind === 'TemplateData') {
      text += child.data;
      continue;
    }
    flush();
    if (!foldable(unit, child)) unit.line = child.line;
    steps.push(printStep(unit.expr(child, frame), child.line, print));
  }
  flush();
  const all = sequence(steps);
  if (!frame.requireOutputCheck) return all;
  return (f) => (f.extending === undefined ? all(f) : undefined);
}
