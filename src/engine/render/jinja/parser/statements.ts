// The tags of Jinja itself.
import { assertionError, PyError } from '../errors.ts';
import { isSpace, reprText } from '../runtime/text.ts';
import { parseExpression, parseFilter, parseTuple } from './expressions.ts';
import type { Block, Expr, If, Name, Stmt, Target } from './nodes.ts';
import type { Parser, TagParser, TagRegistry } from './parser.ts';

const reserved = new Set(['true', 'false', 'none', 'True', 'False', 'None']);

function assignable(node: Expr): boolean {
  if (node.kind === 'Tuple') return node.items.every(assignable);
  return node.kind === 'NSRef' || (node.kind === 'Name' && !reserved.has(node.name));
}

function storing(node: Expr, ctx: 'store' | 'param'): Expr {
  if (node.kind === 'Name') return { ...node, ctx };
  if (node.kind === 'Tuple') return { ...node, items: node.items.map((item) => storing(item, ctx)) };
  return node;
}

/** The left side of an assignment. */
export function parseTarget(parser: Parser, namespace = false): Target {
  const node = parseTuple(parser, { simplified: true, namespace });
  if (!assignable(node)) throw parser.stream.error(`can't assign to ${reprText(node.kind.toLowerCase())}`, node.line);
  return storing(node, 'store') as Target;
}

/** A single name to assign to. */
function parseNameTarget(parser: Parser, ctx: 'store' | 'param' = 'store'): Name {
  const token = parser.stream.expect('name');
  if (reserved.has(token.value)) throw parser.stream.error("can't assign to 'name'", token.line);
  return { kind: 'Name', name: token.value, ctx, line: token.line };
}

const parseSet: TagParser = (parser) => {
  const { stream } = parser;
  const { line } = stream.next();
  const target = parseTarget(parser, true);
  if (stream.skipIf('assign')) return { kind: 'Assign', target, node: parseTuple(parser), line };
  const filter = parseFilter(parser, undefined);
  return { kind: 'AssignBlock', target, filter, body: parser.statements(['name:endset'], true), line };
};

const parseFor: TagParser = (parser) => {
  const { stream } = parser;
  const { line } = stream.next();
  const target = parseTarget(parser);
  stream.expect('name:in');
  const iter = parseTuple(parser, { conditional: false });
  const test = stream.skipIf('name:if') ? parseExpression(parser) : undefined;
  const recursive = stream.skipIf('name:recursive');
  const body = parser.statements(['name:endfor', 'name:else']);
  const ended = stream.next().value === 'endfor';
  return {
    kind: 'For',
    target,
    iter,
    test,
    recursive,
    body,
    else: ended ? [] : parser.statements(['name:endfor'], true),
    line,
  };
};

const parseIf: TagParser = (parser) => {
  const { stream } = parser;
  const fresh = (line: number): If => ({ kind: 'If', test: noTest, body: [], elifs: [], else: [], line });
  const result = fresh(stream.next().line);
  let node = result;
  for (;;) {
    node.test = parseTuple(parser, { conditional: false });
    node.body = parser.statements(['name:elif', 'name:else', 'name:endif']);
    const { value } = stream.next();
    if (value === 'elif') {
      node = fresh(stream.current.line);
      result.elifs.push(node);
      continue;
    }
    if (value === 'else') result.else = parser.statements(['name:endif'], true);
    return result;
  }
};

const noTest: Expr = { kind: 'Const', value: null, line: 0 };

const parseWith: TagParser = (parser) => {
  const { stream } = parser;
  const { line } = stream.next();
  const targets: Target[] = [];
  const values: Expr[] = [];
  while (stream.current.type !== 'block_end') {
    if (targets.length > 0) stream.expect('comma');
    targets.push(storing(parseTarget(parser), 'param') as Target);
    stream.expect('assign');
    values.push(parseExpression(parser));
  }
  return { kind: 'With', targets, values, body: parser.statements(['name:endwith'], true), line };
};

const parseAutoescape: TagParser = (parser) => {
  const { line } = parser.stream.next();
  const value = parseExpression(parser);
  return { kind: 'AutoEscape', value, body: parser.statements(['name:endautoescape'], true), line };
};

function checkRequired(parser: Parser, block: Block): void {
  for (const node of block.body) {
    const blank =
      node.kind === 'Output' && node.nodes.every((child) => child.kind === 'TemplateData' && isSpace(child.data));
    if (!blank) throw parser.stream.error('Required blocks can only contain comments or whitespace');
  }
}

const parseBlock: TagParser = (parser) => {
  const { stream } = parser;
  const { line } = stream.next();
  const name = stream.expect('name').value;
  const scoped = stream.skipIf('name:scoped');
  const required = stream.skipIf('name:required');
  if (stream.current.type === 'sub') {
    throw stream.error(
      'Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.',
    );
  }
  const block: Block = {
    kind: 'Block',
    name,
    scoped,
    required,
    body: parser.statements(['name:endblock'], true),
    line,
  };
  if (required) checkRequired(parser, block);
  stream.skipIf(`name:${name}`);
  return block;
};

const parseExtends: TagParser = (parser) => {
  const { line } = parser.stream.next();
  return { kind: 'Extends', template: parseExpression(parser), line };
};

function parseContext(parser: Parser, fallback: boolean): boolean {
  const { stream } = parser;
  if (stream.is('name:with', 'name:without') && stream.look().type === 'name' && stream.look().value === 'context') {
    const chosen = stream.next().value === 'with';
    stream.skip();
    return chosen;
  }
  return fallback;
}

const parseInclude: TagParser = (parser) => {
  const { stream } = parser;
  const { line } = stream.next();
  const template = parseExpression(parser);
  let ignoreMissing = false;
  if (stream.is('name:ignore') && stream.look().type === 'name' && stream.look().value === 'missing') {
    ignoreMissing = true;
    stream.skip(2);
  }
  return { kind: 'Include', template, ignoreMissing, withContext: parseContext(parser, true), line };
};

/** `import "f" as name`; also the first half of `import_yaml` and similar tags. */
export function parseImport(parser: Parser): Extract<Stmt, { kind: 'Import' }> {
  const { stream } = parser;
  const { line } = stream.next();
  const template = parseExpression(parser);
  stream.expect('name:as');
  const target = parseNameTarget(parser).name;
  return { kind: 'Import', template, target, withContext: parseContext(parser, false), line };
}

const parseFrom: TagParser = (parser) => {
  const { stream } = parser;
  const { line } = stream.next();
  const template = parseExpression(parser);
  stream.expect('name:import');
  const names: { name: string; alias: string }[] = [];
  let withContext: boolean | undefined;
  const context = (): boolean => {
    const { value } = stream.current;
    if ((value !== 'with' && value !== 'without') || !contextFollows(parser)) return false;
    withContext = stream.next().value === 'with';
    stream.skip();
    return true;
  };
  for (;;) {
    if (names.length > 0) stream.expect('comma');
    if (stream.current.type !== 'name') {
      stream.expect('name');
    }
    if (context()) break;
    const target = parseNameTarget(parser);
    if (target.name.startsWith('_')) {
      throw assertionError('names starting with an underline can not be imported', target.line);
    }
    const alias = stream.skipIf('name:as') ? parseNameTarget(parser).name : target.name;
    names.push({ name: target.name, alias });
    if (context() || stream.current.type !== 'comma') break;
  }
  return { kind: 'FromImport', template, names, withContext: withContext === true, line };
};

function contextFollows(parser: Parser): boolean {
  const next = parser.stream.look();
  return next.type === 'name' && next.value === 'context';
}

function parseSignature(parser: Parser): { args: Name[]; defaults: Expr[] } {
  const { stream } = parser;
  const args: Name[] = [];
  const defaults: Expr[] = [];
  stream.expect('lparen');
  while (stream.current.type !== 'rparen') {
    if (args.length > 0) stream.expect('comma');
    const arg = parseNameTarget(parser, 'param');
    if (stream.skipIf('assign')) defaults.push(parseExpression(parser));
    else if (defaults.length > 0) throw stream.error('non-default argument follows default argument');
    // Python refuses the function that Jinja2 makes of it.
    if (args.some(({ name }) => name === arg.name)) {
      throw new PyError('SyntaxError', `duplicate argument '${arg.name}' in function definition`);
    }
    args.push(arg);
  }
  stream.expect('rparen');
  return { args, defaults };
}

const parseMacro: TagParser = (parser) => {
  const { line } = parser.stream.next();
  const { name } = parseNameTarget(parser);
  const { args, defaults } = parseSignature(parser);
  return { kind: 'Macro', name, args, defaults, body: parser.statements(['name:endmacro'], true), line };
};

const parseCallBlock: TagParser = (parser) => {
  const { stream } = parser;
  const { line } = stream.next();
  const { args, defaults } = stream.current.type === 'lparen' ? parseSignature(parser) : { args: [], defaults: [] };
  const call = parseExpression(parser);
  if (call.kind !== 'Call') throw stream.error('expected call', line);
  return { kind: 'CallBlock', call, args, defaults, body: parser.statements(['name:endcall'], true), line };
};

const parseFilterBlock: TagParser = (parser) => {
  const { line } = parser.stream.next();
  const filter = parseFilter(parser, undefined, true)!;
  return { kind: 'FilterBlock', filter, body: parser.statements(['name:endfilter'], true), line };
};

const parsePrint: TagParser = (parser) => {
  const { stream } = parser;
  const { line } = stream.next();
  const nodes: Expr[] = [];
  while (stream.current.type !== 'block_end') {
    if (nodes.length > 0) stream.expect('comma');
    nodes.push(parseExpression(parser));
  }
  return { kind: 'Output', nodes, line };
};

const parseDo: TagParser = (parser) => {
  const { line } = parser.stream.next();
  return { kind: 'ExprStmt', node: parseTuple(parser), line };
};

const parseBreak: TagParser = (parser) => ({ kind: 'Break', line: parser.stream.next().line });
const parseContinue: TagParser = (parser) => ({ kind: 'Continue', line: parser.stream.next().line });

/** Tags of Jinja with the `do` and loop control extensions. */
export const jinjaTags: TagRegistry = new Map<string, TagParser>([
  ['for', parseFor],
  ['if', parseIf],
  ['block', parseBlock],
  ['extends', parseExtends],
  ['print', parsePrint],
  ['macro', parseMacro],
  ['include', parseInclude],
  ['from', parseFrom],
  ['import', parseImport],
  ['set', parseSet],
  ['with', parseWith],
  ['autoescape', parseAutoescape],
  ['call', parseCallBlock],
  ['filter', parseFilterBlock],
  ['do', parseDo],
  ['break', parseBreak],
  ['continue', parseContinue],
]);
