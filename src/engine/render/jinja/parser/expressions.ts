// Expressions, by recursive descent in Jinja's order of precedence.

import { integerValue } from '../lexer/lexer.ts';
import { describeToken } from '../lexer/tokens.ts';
import { makeFloat } from '../runtime/number.ts';
import { reprText } from '../runtime/text.ts';
import type { Arguments, BinaryOperator, Call, CompareOperator, Expr, Filter } from './nodes.ts';
import type { TokenStream } from './stream.ts';

/** The source of an expression's tokens: the parser. */
interface TokenSource {
  readonly stream: TokenStream;
}

export interface TupleOptions {
  /** Only names and literals: the left side of an assignment. */
  readonly simplified?: boolean;
  readonly conditional?: boolean;
  readonly parentheses?: boolean;
  readonly namespace?: boolean;
}

/** An expression, or a tuple where commas follow. */
export function parseTuple(parser: TokenSource, options: TupleOptions = {}): Expr {
  const { stream } = parser;
  const { conditional = true } = options;
  let line = stream.current.line;
  const items: Expr[] = [];
  let isTuple = false;
  for (;;) {
    if (items.length > 0) stream.expect('comma');
    if (stream.is('variable_end', 'block_end', 'rparen')) break;
    items.push(
      options.simplified ? parsePrimary(parser, options.namespace === true) : parseExpression(parser, conditional),
    );
    if (stream.current.type !== 'comma') break;
    isTuple = true;
    line = stream.current.line;
  }
  if (!isTuple) {
    if (items[0] !== undefined) return items[0];
    if (!options.parentheses) {
      throw stream.error(`Expected an expression, got ${reprText(describeToken(stream.current))}`);
    }
  }
  return { kind: 'Tuple', items, line };
}

export function parseExpression(parser: TokenSource, conditional = true): Expr {
  return conditional ? parseConditional(parser) : parseOr(parser);
}

function parseConditional(parser: TokenSource): Expr {
  const { stream } = parser;
  let line = stream.current.line;
  let expr = parseOr(parser);
  while (stream.skipIf('name:if')) {
    const test = parseOr(parser);
    const no = stream.skipIf('name:else') ? parseConditional(parser) : undefined;
    expr = { kind: 'CondExpr', test, yes: expr, no, line };
    line = stream.current.line;
  }
  return expr;
}

function parseOr(parser: TokenSource): Expr {
  const { stream } = parser;
  let line = stream.current.line;
  let left = parseAnd(parser);
  while (stream.skipIf('name:or')) {
    left = { kind: 'Or', left, right: parseAnd(parser), line };
    line = stream.current.line;
  }
  return left;
}

function parseAnd(parser: TokenSource): Expr {
  const { stream } = parser;
  let line = stream.current.line;
  let left = parseNot(parser);
  while (stream.skipIf('name:and')) {
    left = { kind: 'And', left, right: parseNot(parser), line };
    line = stream.current.line;
  }
  return left;
}

function parseNot(parser: TokenSource): Expr {
  const { stream } = parser;
  if (!stream.is('name:not')) return parseCompare(parser);
  const { line } = stream.next();
  return { kind: 'Not', node: parseNot(parser), line };
}

const compareOperators = new Set(['eq', 'ne', 'lt', 'lteq', 'gt', 'gteq']);

function parseCompare(parser: TokenSource): Expr {
  const { stream } = parser;
  let line = stream.current.line;
  const expr = parseSum(parser);
  const ops: { op: CompareOperator; expr: Expr }[] = [];
  for (;;) {
    const { type } = stream.current;
    if (compareOperators.has(type)) {
      stream.next();
      ops.push({ op: type as CompareOperator, expr: parseSum(parser) });
    } else if (stream.skipIf('name:in')) ops.push({ op: 'in', expr: parseSum(parser) });
    else if (stream.is('name:not') && stream.look().type === 'name' && stream.look().value === 'in') {
      stream.skip(2);
      ops.push({ op: 'notin', expr: parseSum(parser) });
    } else break;
    line = stream.current.line;
  }
  return ops.length === 0 ? expr : { kind: 'Compare', expr, ops, line };
}

/** Left-associative chain of binary operators. */
function chain(parser: TokenSource, types: readonly string[], operand: (parser: TokenSource) => Expr): Expr {
  const { stream } = parser;
  let line = stream.current.line;
  let left = operand(parser);
  while (types.includes(stream.current.type)) {
    const op = stream.next().type as BinaryOperator;
    left = { kind: 'Binary', op, left, right: operand(parser), line };
    line = stream.current.line;
  }
  return left;
}

const parseSum = (parser: TokenSource): Expr => chain(parser, ['add', 'sub'], parseConcat);

function parseConcat(parser: TokenSource): Expr {
  const { stream } = parser;
  const { line } = stream.current;
  const nodes = [parseProduct(parser)];
  while (stream.skipIf('tilde')) nodes.push(parseProduct(parser));
  return nodes.length === 1 ? nodes[0]! : { kind: 'Concat', nodes, line };
}

const parseProduct = (parser: TokenSource): Expr => chain(parser, ['mul', 'div', 'floordiv', 'mod'], parsePower);
const parsePower = (parser: TokenSource): Expr => chain(parser, ['pow'], (inner) => parseUnary(inner, true));

function parseUnary(parser: TokenSource, filters: boolean): Expr {
  const { stream } = parser;
  const { type, line } = stream.current;
  let node: Expr;
  if (type === 'sub' || type === 'add') {
    stream.next();
    node = { kind: type === 'sub' ? 'Neg' : 'Pos', node: parseUnary(parser, false), line };
  } else node = parsePrimary(parser, false);
  node = parsePostfix(parser, node);
  return filters ? parseFilterExpression(parser, node) : node;
}

const constants = new Map<string, boolean | null>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);

/** A name, a literal or something in brackets. */
function parsePrimary(parser: TokenSource, namespace: boolean): Expr {
  const { stream } = parser;
  const token = stream.current;
  const { line } = token;
  switch (token.type) {
    case 'name': {
      stream.next();
      const constant = constants.get(token.value);
      if (constant !== undefined) return { kind: 'Const', value: constant, line };
      if (namespace && stream.skipIf('dot')) {
        return { kind: 'NSRef', name: token.value, attr: stream.expect('name').value, line };
      }
      return { kind: 'Name', name: token.value, ctx: 'load', line };
    }
    case 'string': {
      let value = stream.next().value;
      while (stream.current.type === 'string') value += stream.next().value;
      return { kind: 'Const', value, line };
    }
    case 'integer':
      return { kind: 'Const', value: integerValue(stream.next().value), line };
    case 'float':
      return { kind: 'Const', value: makeFloat(Number(stream.next().value)), line };
    case 'lparen': {
      stream.next();
      const node = parseTuple(parser, { parentheses: true });
      stream.expect('rparen');
      return node;
    }
    case 'lbracket':
      return parseList(parser);
    case 'lbrace':
      return parseDict(parser);
    default:
      throw stream.error(`unexpected ${reprText(describeToken(token))}`, line);
  }
}

function parseList(parser: TokenSource): Expr {
  const { stream } = parser;
  const { line } = stream.expect('lbracket');
  const items: Expr[] = [];
  while (stream.current.type !== 'rbracket') {
    if (items.length > 0) stream.expect('comma');
    if (stream.current.type === 'rbracket') break;
    items.push(parseExpression(parser));
  }
  stream.expect('rbracket');
  return { kind: 'List', items, line };
}

function parseDict(parser: TokenSource): Expr {
  const { stream } = parser;
  const { line } = stream.expect('lbrace');
  const items: { key: Expr; value: Expr }[] = [];
  while (stream.current.type !== 'rbrace') {
    if (items.length > 0) stream.expect('comma');
    if (stream.current.type === 'rbrace') break;
    const key = parseExpression(parser);
    stream.expect('colon');
    items.push({ key, value: parseExpression(parser) });
  }
  stream.expect('rbrace');
  return { kind: 'Dict', items, line };
}

function parsePostfix(parser: TokenSource, start: Expr): Expr {
  let node = start;
  for (;;) {
    const { type } = parser.stream.current;
    if (type === 'dot' || type === 'lbracket') node = parseSubscript(parser, node);
    else if (type === 'lparen') node = parseCall(parser, node);
    else return node;
  }
}

function parseFilterExpression(parser: TokenSource, start: Expr): Expr {
  const { stream } = parser;
  let node = start;
  for (;;) {
    if (stream.current.type === 'pipe') node = parseFilter(parser, node)!;
    else if (stream.is('name:is')) node = parseTest(parser, node);
    else if (stream.current.type === 'lparen') node = parseCall(parser, node);
    else return node;
  }
}

function parseSubscript(parser: TokenSource, node: Expr): Expr {
  const { stream } = parser;
  const token = stream.next();
  const { line } = token;
  if (token.type === 'dot') {
    const attribute = stream.next();
    if (attribute.type === 'name') return { kind: 'Getattr', node, attr: attribute.value, line };
    if (attribute.type !== 'integer') throw stream.error('expected name or number', attribute.line);
    const arg: Expr = { kind: 'Const', value: integerValue(attribute.value), line: attribute.line };
    return { kind: 'Getitem', node, arg, line };
  }
  const args: Expr[] = [];
  while (stream.current.type !== 'rbracket') {
    if (args.length > 0) stream.expect('comma');
    args.push(parseSubscribed(parser));
  }
  stream.expect('rbracket');
  const arg: Expr = args.length === 1 ? args[0]! : { kind: 'Tuple', items: args, line };
  return { kind: 'Getitem', node, arg, line };
}

function parseSubscribed(parser: TokenSource): Expr {
  const { stream } = parser;
  const { line } = stream.current;
  const isEnd = (): boolean => stream.current.type === 'rbracket' || stream.current.type === 'comma';
  let start: Expr | undefined;
  if (stream.current.type !== 'colon') {
    start = parseExpression(parser);
    if (stream.current.type !== 'colon') return start;
  }
  stream.next();
  let stop: Expr | undefined;
  if (stream.current.type !== 'colon' && !isEnd()) stop = parseExpression(parser);
  let step: Expr | undefined;
  if (stream.skipIf('colon') && !isEnd()) step = parseExpression(parser);
  return { kind: 'Slice', start, stop, step, line };
}

function parseArguments(parser: TokenSource): Arguments {
  const { stream } = parser;
  const { line } = stream.expect('lparen');
  const args: Expr[] = [];
  const kwargs: { key: string; value: Expr }[] = [];
  let dynArgs: Expr | undefined;
  let dynKwargs: Expr | undefined;
  const ensure = (condition: boolean): void => {
    if (!condition) throw stream.error('invalid syntax for function call expression', line);
  };
  for (let first = true; stream.current.type !== 'rparen'; first = false) {
    if (!first) {
      stream.expect('comma');
      if (stream.current.type === 'rparen') break;
    }
    if (stream.current.type === 'mul') {
      ensure(dynArgs === undefined && dynKwargs === undefined);
      stream.next();
      dynArgs = parseExpression(parser);
    } else if (stream.current.type === 'pow') {
      ensure(dynKwargs === undefined);
      stream.next();
      dynKwargs = parseExpression(parser);
    } else if (stream.current.type === 'name' && stream.look().type === 'assign') {
      ensure(dynKwargs === undefined);
      const key = stream.current.value;
      stream.skip(2);
      kwargs.push({ key, value: parseExpression(parser) });
    } else {
      ensure(dynArgs === undefined && dynKwargs === undefined && kwargs.length === 0);
      args.push(parseExpression(parser));
    }
  }
  stream.expect('rparen');
  return { args, kwargs, dynArgs, dynKwargs };
}

const noArguments: Arguments = { args: [], kwargs: [], dynArgs: undefined, dynKwargs: undefined };

function parseCall(parser: TokenSource, node: Expr): Call {
  const { line } = parser.stream.current;
  return { kind: 'Call', node, line, ...parseArguments(parser) };
}

function dottedName(parser: TokenSource): string {
  const { stream } = parser;
  let name = stream.expect('name').value;
  while (stream.skipIf('dot')) name += `.${stream.expect('name').value}`;
  return name;
}

/** A chain of filters; `inline` starts with a name instead of a pipe (filter blocks). */
export function parseFilter(parser: TokenSource, start: Expr | undefined, inline = false): Filter | undefined {
  const { stream } = parser;
  let node: Expr | undefined = start;
  let bare = inline;
  while (bare || stream.current.type === 'pipe') {
    if (!bare) stream.next();
    bare = false;
    const { line } = stream.current;
    const name = dottedName(parser);
    const args = stream.current.type === 'lparen' ? parseArguments(parser) : noArguments;
    node = { kind: 'Filter', node, name, line, ...args };
  }
  return node as Filter | undefined;
}

const testOperands = new Set(['name', 'string', 'integer', 'float', 'lparen', 'lbracket', 'lbrace']);

function parseTest(parser: TokenSource, node: Expr): Expr {
  const { stream } = parser;
  const { line } = stream.next();
  const negated = stream.skipIf('name:not');
  const name = dottedName(parser);
  let args: Arguments = noArguments;
  if (stream.current.type === 'lparen') args = parseArguments(parser);
  else if (testOperands.has(stream.current.type) && !stream.is('name:else', 'name:or', 'name:and')) {
    if (stream.is('name:is')) throw stream.error('You cannot chain multiple tests with is');
    args = { ...noArguments, args: [parsePostfix(parser, parsePrimary(parser, false))] };
  }
  const test: Expr = { kind: 'Test', node, name, line, ...args };
  return negated ? { kind: 'Not', node: test, line } : test;
}
