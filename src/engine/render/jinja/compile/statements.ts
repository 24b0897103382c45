// Statements to closures, and the simple ones among them.
import { assertionError, PyError } from '../errors.ts';
import type { AutoEscape, If, Profile, Stmt, With } from '../parser/nodes.ts';
import { truth } from '../runtime/iterate.ts';
import { str } from '../runtime/print.ts';
import type { Frame } from '../runtime/runtime.ts';
import { compileAssign, compileAssignBlock, storeTo } from './assign.ts';
import { breakLoop, nextRound, type Signal, type Step, sequence, withValue } from './code.ts';
import { compileBlockCall, compileExtends, compileFromImport, compileImport, compileInclude } from './imports.ts';
import { compileFor } from './loops.ts';
import { compileCallBlock, compileFilterBlock, compileMacro } from './macros.ts';
import { compileOutput } from './output.ts';
import { type CompileFrame, enterFrame, leaveFrame, type Unit } from './scope.ts';
import { analyze } from './symbols.ts';

export function compileBody(unit: Unit, nodes: readonly Stmt[], frame: CompileFrame): Step {
  const steps: Step[] = [];
  for (const node of nodes) {
    const repeated = node.kind === 'Extends' && unit.knownExtends;
    steps.push(compileStatement(unit, node, frame));
    // A second `extends` always fails, so the reference compiles nothing after it.
    if (repeated) break;
  }
  return sequence(steps);
}

function compileStatement(unit: Unit, node: Stmt, frame: CompileFrame): Step {
  switch (node.kind) {
    case 'Output':
      return compileOutput(unit, node, frame);
    case 'If':
      return compileIf(unit, node, frame);
    case 'For':
      return compileFor(unit, node, frame);
    case 'Assign':
      return compileAssign(unit, node, frame);
    case 'AssignBlock':
      return compileAssignBlock(unit, node, frame);
    case 'Macro':
      return compileMacro(unit, node, frame);
    case 'CallBlock':
      return compileCallBlock(unit, node, frame);
    case 'FilterBlock':
      return compileFilterBlock(unit, node, frame);
    case 'With':
      return compileWith(unit, node, frame);
    case 'Include':
      return compileInclude(unit, node, frame);
    case 'Import':
      return compileImport(unit, node, frame);
    case 'FromImport':
      return compileFromImport(unit, node, frame);
    case 'Block':
      return compileBlockCall(unit, node, frame);
    case 'Extends':
      if (!frame.toplevel) throw assertionError('cannot use extend from a non top-level scope', node.line);
      return compileExtends(unit, node, frame);
    case 'ExprStmt':
      return compileDo(unit, node, frame);
    case 'AutoEscape':
      return compileAutoEscape(unit, node, frame);
    case 'Profile':
      return compileProfile(unit, node, frame);
    default:
      return compileLoopControl(unit, node, frame);
  }
}

function compileIf(unit: Unit, node: If, frame: CompileFrame): Step {
  const inner = frame.softened();
  const branches = [node, ...node.elifs].map(({ test, body, line }) => {
    unit.line = line;
    return { line, test: unit.expr(test, inner), body: unit.body(body, inner) };
  });
  const otherwise = unit.body(node.else, inner);
  const tests = branches.map(({ test }) => test.sync);
  if (tests.every((test) => test !== undefined)) {
    return (f) => {
      for (let at = 0; at < branches.length; at += 1) {
        const branch = branches[at]!;
        f.line = branch.line;
        if (truth(tests[at]!(f))) return branch.body(f);
      }
      return otherwise(f);
    };
  }
  const from = (f: Frame, at: number): ReturnType<Step> => {
    const branch = branches[at];
    if (branch === undefined) return otherwise(f);
    f.line = branch.line;
    const value = branch.test.run(f);
    if (value instanceof Promise) return value.then((later) => (truth(later) ? branch.body(f) : from(f, at + 1)));
    return truth(value) ? branch.body(f) : from(f, at + 1);
  };
  return (f) => from(f, 0);
}

/** The values of `with` are evaluated outside its scope, all with the line before it (as in the reference). */
function compileWith(unit: Unit, node: With, frame: CompileFrame): Step {
  const inner = frame.inner();
  analyze(inner.symbols, [...node.targets, ...node.body]);
  const enter = enterFrame(inner);
  const { line } = unit;
  const assigns = node.targets.map((target, at) => {
    const store = storeTo(target, inner);
    return withValue(unit.expr(node.values[at]!, frame), (value, f) => {
      store(f, value);
      return undefined;
    });
  });
  const all = sequence([...assigns, unit.body(node.body, inner)]);
  const leave = leaveFrame(inner);
  return (f) => {
    f.line = line;
    enter(f);
    const done = (signal: Signal | undefined): Signal | undefined => {
      leave(f);
      return signal;
    };
    const result = all(f);
    return result instanceof Promise ? result.then(done) : done(result);
  };
}

function compileDo(unit: Unit, node: Extract<Stmt, { kind: 'ExprStmt' }>, frame: CompileFrame): Step {
  unit.line = node.line;
  const { line } = node;
  const step = withValue(unit.expr(node.node, frame), () => undefined);
  return (f) => {
    f.line = line;
    return step(f);
  };
}

function compileAutoEscape(unit: Unit, node: AutoEscape, frame: CompileFrame): Step {
  const inner = frame.inner();
  analyze(inner.symbols, [node.value, ...node.body]);
  const enter = enterFrame(inner);
  const { line } = unit;
  const value = unit.expr(node.value, inner);
  const body = unit.body(node.body, inner);
  const leave = leaveFrame(inner);
  return (f) => {
    f.line = line;
    enter(f);
    const before = f.context.autoescape;
    const done = (signal: Signal | undefined): Signal | undefined => {
      f.context.autoescape = before;
      leave(f);
      return signal;
    };
    const step = withValue(value, (flag) => {
      f.context.autoescape = truth(flag);
      return body(f);
    });
    const result = step(f);
    return result instanceof Promise ? result.then(done) : done(result);
  };
}

/** Time is measured only when there is a listener; the label of a `profile` tag is evaluated in any case. */
function compileProfile(unit: Unit, node: Profile, frame: CompileFrame): Step {
  unit.line = node.line;
  const { line, id, source } = node;
  if (node.phase === 'end') {
    return (f) => {
      f.line = line;
      const started = f.profiles?.get(id);
      if (started !== undefined) {
        const seconds = (f.rt.hooks.now() - started.at) / 1000;
        f.rt.hooks.log?.('profile', `Time (in seconds) to render ${source} '${started.label}': ${seconds}`);
      }
      return undefined;
    };
  }
  const step = withValue(unit.expr(node.label!, frame), (value, f) => {
    if (f.rt.hooks.log !== undefined) {
      f.profiles ??= new Map();
      f.profiles.set(id, { label: str(value), at: f.rt.hooks.now() });
    }
    return undefined;
  });
  const always = source === 'profile block';
  return (f) => {
    f.line = line;
    return always || f.rt.hooks.log !== undefined ? step(f) : undefined;
  };
}

function compileLoopControl(
  unit: Unit,
  node: Extract<Stmt, { kind: 'Break' | 'Continue' }>,
  frame: CompileFrame,
): Step {
  unit.line = node.line;
  if (!frame.inLoop) {
    // Python refuses the generated code: not a template error, and without a line in the template.
    const problem = node.kind === 'Break' ? "'break' outside loop" : "'continue' not properly in loop";
    const error = new PyError('SyntaxError', problem);
    error.line = node.line;
    throw error;
  }
  const signal = node.kind === 'Break' ? breakLoop : nextRound;
  const { line } = node;
  return (f) => {
    f.line = line;
    return signal;
  };
}
