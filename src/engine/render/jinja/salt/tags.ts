// Salt's own tags: load_*, import_* and profile, spelled out in the nodes of Jinja.

import { parseExpression } from '../parser/expressions.ts';
import type { Call, Expr, Filter, Profile, Stmt } from '../parser/nodes.ts';
import type { Parser, TagParser, TagRegistry } from '../parser/parser.ts';
import { parseImport, parseTarget } from '../parser/statements.ts';

const noArguments = { args: [], kwargs: [], dynArgs: undefined, dynKwargs: undefined };

function filtered(node: Expr, name: string, line: number): Filter {
  return { kind: 'Filter', node, name, line, ...noArguments };
}

/** Body as a hidden macro, called at once and passed through the filter of the tag's name. */
const parseLoad: TagParser = (parser) => {
  const { stream } = parser;
  const tag = stream.next();
  const { line } = tag;
  stream.expect('name:as');
  const target = parseTarget(parser);
  const name = `_${parser.freeIdentifier()}`;
  const body = parser.statements(['name:endload'], true);
  const call: Call = { kind: 'Call', node: { kind: 'Name', name, ctx: 'load', line }, line, ...noArguments };
  return [
    { kind: 'Macro', name, args: [], defaults: [], body, line },
    { kind: 'Assign', target, node: filtered(call, tag.value, line), line },
  ];
};

function timed(parser: Parser, label: Expr, source: string, body: readonly Stmt[], line: number): Stmt[] {
  const id = parser.freeIdentifier();
  const mark = (phase: Profile['phase']): Profile => ({
    kind: 'Profile',
    phase,
    id,
    label: phase === 'start' ? label : undefined,
    source,
    line,
  });
  return [mark('start'), ...body, mark('end')];
}

const parseImported: TagParser = (parser) => {
  const format = parser.stream.current.value.slice('import_'.length);
  const node = parseImport(parser);
  const { target, line } = node;
  const loaded = filtered({ kind: 'Name', name: target, ctx: 'load', line }, `load_${format}`, line);
  const body: Stmt[] = [
    node,
    { kind: 'Assign', target: { kind: 'Name', name: target, ctx: 'store', line }, node: loaded, line },
  ];
  return timed(parser, node.template, `import_${format}`, body, line);
};

const parseProfile: TagParser = (parser) => {
  const { stream } = parser;
  const { line } = stream.next();
  stream.expect('name:as');
  const label = parseExpression(parser);
  return timed(parser, label, 'profile block', parser.statements(['name:endprofile'], true), line);
};

export const saltTags: TagRegistry = new Map<string, TagParser>([
  ['load_yaml', parseLoad],
  ['load_json', parseLoad],
  ['load_text', parseLoad],
  ['import_yaml', parseImported],
  ['import_json', parseImported],
  ['import_text', parseImported],
  ['profile', parseProfile],
]);
