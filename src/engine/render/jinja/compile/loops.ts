// for loops: plain, filtered, with the `loop` variable, recursive.
import { assertionError } from '../errors.ts';
import type { For } from '../parser/nodes.ts';
import { visitNodes } from '../parser/nodes.ts';
import { iterate, truth } from '../runtime/iterate.ts';
import { LoopContext, type Recurse } from '../runtime/loop.ts';
import { Frame } from '../runtime/runtime.ts';
import type { MaybePromise, PyValue } from '../runtime/value.ts';
import { type Store, storeTo } from './assign.ts';
import { breakLoop, type Code, type Signal, type Step, withValue } from './code.ts';
import { type CompileFrame, enterFrame, leaveFrame, type Unit } from './scope.ts';
import { analyzeLoop, findUndeclared } from './symbols.ts';

interface LoopParts {
  readonly store: Store;
  readonly enter: (f: Frame) => void;
  readonly body: Step;
  readonly leave: (f: Frame) => void;
  readonly otherwise: Step | undefined;
  /** Slot of `loop`, if the body uses it. */
  readonly loopSlot: number | undefined;
  readonly keepsVars: boolean;
}

/** Yields items one by one; undefined ends the loop. */
type Next = () => MaybePromise<PyValue | undefined>;

function oneRound(parts: LoopParts, f: Frame, item: PyValue): MaybePromise<Signal | undefined> {
  f.rt.step();
  parts.store(f, item);
  parts.enter(f);
  if (parts.keepsVars) f.loopVars = new Map();
  return parts.body(f);
}

/** Runs the rest of a loop after an asynchronous part; returns whether an iteration was completed. */
async function finishWaiting(parts: LoopParts, f: Frame, next: Next, line: number): Promise<boolean> {
  let completed = false;
  for (;;) {
    f.rt.checkAbort();
    f.line = line;
    const step = next();
    const item = step instanceof Promise ? await step : step;
    if (item === undefined) return completed;
    const result = oneRound(parts, f, item);
    const signal = result instanceof Promise ? await result : result;
    if (signal === undefined) completed = true;
    else if (signal === breakLoop) return completed;
  }
}

/**
 * Runs the iterations. The result decides about `else`: as in the reference, only an iteration that reaches its end
 * counts, so a loop that always breaks or continues runs its `else` as well.
 */
function rounds(parts: LoopParts, f: Frame, next: Next, line: number): MaybePromise<boolean> {
  let completed = false;
  const afterwards = async (signal: Signal | undefined): Promise<boolean> => {
    if (signal === breakLoop) return completed;
    const rest = await finishWaiting(parts, f, next, line);
    return completed || rest || signal === undefined;
  };
  for (;;) {
    f.line = line;
    const item = next();
    if (item === undefined) return completed;
    if (item instanceof Promise) {
      return item.then(async (first) =>
        first === undefined ? completed : afterwards(await oneRound(parts, f, first)),
      );
    }
    const result = oneRound(parts, f, item);
    if (result === undefined) completed = true;
    else if (result === breakLoop) return completed;
    else if (result instanceof Promise) return result.then(afterwards);
  }
}

/** What the loop iterates over: the iterable itself or a filtered view of it. */
interface Feed {
  readonly source: Iterator<PyValue>;
  /** Set when the filter may be asynchronous: items then come from here in plain loops. */
  readonly next: Next | undefined;
  /** The value whose `len()` is the loop's length. */
  readonly sized: PyValue | undefined;
}

type MakeFeed = (f: Frame, value: PyValue) => MaybePromise<Feed>;

const plainFeed: MakeFeed = (_f, value) => ({ source: iterate(value), next: undefined, sized: value });

/** The inline `if`: a separate function with the loop targets as its variables. */
function compileFilterFeed(unit: Unit, node: For, frame: CompileFrame, extended: boolean): MakeFeed {
  const test = node.test!;
  const inner = frame.innerFunction();
  analyzeLoop(inner.symbols, node, 'test');
  unit.line = test.line;
  const enter = enterFrame(inner);
  const store = storeTo(node.target, inner);
  const code = unit.expr(test, inner);
  const { line } = test;
  const { recursive } = node;
  return (f, value) => {
    // The filter sees the variables around the loop; a recursive loop has its own frame in between.
    const home = recursive ? f.outer : f;
    const own = new Frame(f.rt, f.info, f.context, home, 'template', inner.fn.size, line);
    enter(own);
    const items = iterate(value);
    const passes = (item: PyValue): MaybePromise<boolean> => {
      f.rt.step();
      f.rt.enter(own);
      own.line = line;
      store(own, item);
      const result = code.run(own);
      const finish = (later: PyValue): boolean => {
        const kept = truth(later);
        f.rt.leave();
        return kept;
      };
      return result instanceof Promise ? result.then(finish) : finish(result);
    };
    return extended && code.sync === undefined ? carefulFeed(items, passes) : lazyFeed(items, passes);
  };
}

function lazyFeed(items: Iterator<PyValue>, passes: (item: PyValue) => MaybePromise<boolean>): Feed {
  const pull = (): MaybePromise<PyValue | undefined> => {
    for (let step = items.next(); !step.done; step = items.next()) {
      const kept = passes(step.value);
      if (kept === true) return step.value;
      if (kept !== false) {
        const item = step.value;
        return kept.then((later) => (later ? item : pull()));
      }
    }
    return undefined;
  };
  return { source: syncSource(pull), next: pull, sized: undefined };
}

function syncSource(pull: () => MaybePromise<PyValue | undefined>): Iterator<PyValue> {
  return {
    next: () => {
      const item = pull();
      if (item instanceof Promise) throw new Error('this loop filter cannot wait for a function');
      return item === undefined ? { done: true, value: undefined } : { done: false, value: item };
    },
  };
}

/** `loop.last` is synchronous, so an asynchronous filter is run over all items first. */
function carefulFeed(items: Iterator<PyValue>, passes: (item: PyValue) => MaybePromise<boolean>): MaybePromise<Feed> {
  const first = items.next();
  if (first.done) return { source: items, next: undefined, sized: undefined };
  const kept = passes(first.value);
  if (kept instanceof Promise) return collectKept(items, passes, first.value, kept);
  const rest = lazyFeed(items, passes).source;
  let pending = kept;
  const source: Iterator<PyValue> = {
    next: () => {
      if (!pending) return rest.next();
      pending = false;
      return { done: false, value: first.value };
    },
  };
  return { source, next: undefined, sized: undefined };
}

async function collectKept(
  items: Iterator<PyValue>,
  passes: (item: PyValue) => MaybePromise<boolean>,
  first: PyValue,
  firstKept: Promise<boolean>,
): Promise<Feed> {
  const list: PyValue[] = [];
  if (await firstKept) list.push(first);
  for (let step = items.next(); !step.done; step = items.next()) if (await passes(step.value)) list.push(step.value);
  return { source: list[Symbol.iterator](), next: undefined, sized: undefined };
}

/** Runs a loop over a value in the frame of its variables. */
type RunLoop = (f: Frame, value: PyValue, recurse: Recurse | undefined, depth: number) => ReturnType<Step>;

function loopRunner(parts: LoopParts, feed: MakeFeed, line: number): RunLoop {
  const after = (f: Frame, completed: boolean): ReturnType<Step> => {
    parts.leave(f);
    return completed || parts.otherwise === undefined ? undefined : parts.otherwise(f);
  };
  const start = (f: Frame, fed: Feed, recurse: Recurse | undefined, depth: number): ReturnType<Step> => {
    let next: Next;
    if (parts.loopSlot === undefined) next = fed.next ?? fromIterator(fed.source);
    else {
      const loop = new LoopContext(f.rt, fed.source, fed.sized, recurse, depth);
      const slot = parts.loopSlot;
      next = () => {
        const item = loop.advance();
        f.slots[slot] = loop;
        return item;
      };
    }
    const completed = rounds(parts, f, next, line);
    return completed instanceof Promise ? completed.then((later) => after(f, later)) : after(f, completed);
  };
  return (f, value, recurse, depth) => {
    f.line = line;
    const fed = feed(f, value);
    return fed instanceof Promise
      ? fed.then((later) => start(f, later, recurse, depth))
      : start(f, fed, recurse, depth);
  };
}

function fromIterator(source: Iterator<PyValue>): Next {
  return () => {
    const step = source.next();
    return step.done ? undefined : step.value;
  };
}

/** Refuses assignments to `loop`; returns whether the loop contains a scoped block. */
function surveyLoop(node: For): boolean {
  let scopedBlock = false;
  visitNodes([node], (inner) => {
    if (inner.kind === 'Block' && inner.scoped) scopedBlock = true;
    else if (inner.kind === 'Name' && inner.ctx === 'store' && inner.name === 'loop') {
      throw assertionError("Can't assign to special loop variable in for-loop target", inner.line);
    }
  });
  return scopedBlock;
}

function compileParts(
  unit: Unit,
  node: For,
  inner: CompileFrame,
  otherwiseFrame: CompileFrame,
  extended: boolean,
): LoopParts {
  const loopSlot = extended ? inner.fn.locate(inner.symbols.declareParameter('loop')).index : undefined;
  analyzeLoop(inner.symbols, node, 'body');
  if (node.else.length > 0) analyzeLoop(otherwiseFrame.symbols, node, 'else');
  unit.line = node.line;
  const store = storeTo(node.target, inner);
  const enter = enterFrame(inner);
  const body = unit.body(node.body, inner);
  let otherwise: Step | undefined;
  if (node.else.length > 0) {
    const enterElse = enterFrame(otherwiseFrame);
    const run = unit.body(node.else, otherwiseFrame);
    const leaveElse = leaveFrame(otherwiseFrame);
    otherwise = (f) => {
      enterElse(f);
      const result = run(f);
      const done = (signal: Signal | undefined): Signal | undefined => {
        leaveElse(f);
        return signal;
      };
      return result instanceof Promise ? result.then(done) : done(result);
    };
  }
  const { loads, stores, refs } = inner.symbols;
  const keepsVars = [...stores].some((name) => loads.get(refs.get(name) ?? '')?.kind !== 'param');
  return { store, enter, body, leave: leaveFrame(inner), otherwise, loopSlot, keepsVars };
}

export function compileFor(unit: Unit, node: For, frame: CompileFrame): Step {
  const scopedBlock = surveyLoop(node);
  const extended = node.recursive || scopedBlock || findUndeclared(node.body, ['loop']).has('loop');
  const inner = node.recursive ? frame.innerFunction() : frame.inner();
  inner.loopFrame = true;
  inner.inLoop = true;
  const sibling = inner.sibling(node.recursive ? false : frame.inLoop);
  const feed = node.test === undefined ? plainFeed : compileFilterFeed(unit, node, frame, extended);
  const parts = compileParts(unit, node, inner, sibling, extended);
  const run = loopRunner(parts, feed, node.line);
  if (!node.recursive) {
    const iter = unit.expr(node.iter, frame);
    return lineThen(
      node.line,
      withValue(iter, (value, f) => run(f, value, undefined, 0)),
    );
  }
  return compileRecursive(unit, node, frame, inner, run);
}

function compileRecursive(unit: Unit, node: For, frame: CompileFrame, inner: CompileFrame, run: RunLoop): Step {
  unit.line = node.line;
  const { line } = node;
  const iter: Code = unit.expr(node.iter, frame);
  const render = (outer: Frame): Recurse => {
    const recurse: Recurse = (value, depth) => {
      const own = new Frame(outer.rt, outer.info, outer.context, outer, 'template', inner.fn.size, line);
      own.extending = outer.extending;
      outer.rt.enter(own);
      const finish = (): string => {
        outer.rt.leave();
        return own.out;
      };
      const result = run(own, value, recurse, depth);
      return result instanceof Promise ? result.then(finish) : finish();
    };
    return recurse;
  };
  return lineThen(
    line,
    withValue(iter, (value, f) => {
      const text = render(f)(value, 0);
      const write = (later: PyValue): undefined => {
        f.out += later as string;
      };
      return text instanceof Promise ? text.then(write) : write(text);
    }),
  );
}

function lineThen(line: number, step: Step): Step {
  return (f) => {
    f.line = line;
    return step(f);
  };
}
