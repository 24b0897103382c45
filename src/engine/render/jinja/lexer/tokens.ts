// Kinds of tokens, their names in messages, and the delimiters a lexer works with.

export interface Token {
  readonly line: number;
  readonly type: string;
  readonly value: string;
  /** Offset in the (newline-normalised) source, for columns in error reports. */
  readonly offset: number;
}

export interface LexerOptions {
  readonly blockStart: string;
  readonly blockEnd: string;
  readonly variableStart: string;
  readonly variableEnd: string;
  readonly commentStart: string;
  readonly commentEnd: string;
  readonly lineStatementPrefix: string | undefined;
  readonly lineCommentPrefix: string | undefined;
  readonly trimBlocks: boolean;
  readonly lstripBlocks: boolean;
  readonly newlineSequence: string;
  readonly keepTrailingNewline: boolean;
}

export const defaultLexerOptions: LexerOptions = {
  blockStart: '{%',
  blockEnd: '%}',
  variableStart: '{{',
  variableEnd: '}}',
  commentStart: '{#',
  commentEnd: '#}',
  lineStatementPrefix: undefined,
  lineCommentPrefix: undefined,
  trimBlocks: false,
  lstripBlocks: false,
  newlineSequence: '\n',
  keepTrailingNewline: false,
};

export const operators: Readonly<Record<string, string>> = {
  '+': 'add',
  '-': 'sub',
  '/': 'div',
  '//': 'floordiv',
  '*': 'mul',
  '%': 'mod',
  '**': 'pow',
  '~': 'tilde',
  '[': 'lbracket',
  ']': 'rbracket',
  '(': 'lparen',
  ')': 'rparen',
  '{': 'lbrace',
  '}': 'rbrace',
  '==': 'eq',
  '!=': 'ne',
  '>': 'gt',
  '>=': 'gteq',
  '<': 'lt',
  '<=': 'lteq',
  '=': 'assign',
  '.': 'dot',
  ':': 'colon',
  '|': 'pipe',
  ',': 'comma',
  ';': 'semicolon',
};

const operatorSigns = new Map(Object.entries(operators).map(([sign, type]) => [type, sign]));

const described: Readonly<Record<string, string>> = {
  comment_begin: 'begin of comment',
  comment_end: 'end of comment',
  comment: 'comment',
  linecomment: 'comment',
  block_begin: 'begin of statement block',
  block_end: 'end of statement block',
  variable_begin: 'begin of print statement',
  variable_end: 'end of print statement',
  linestatement_begin: 'begin of line statement',
  linestatement_end: 'end of line statement',
  data: 'template data / text',
  eof: 'end of template',
};

function describeType(type: string): string {
  return operatorSigns.get(type) ?? described[type] ?? type;
}

/** A token as messages name it. */
export function describeToken(token: Token): string {
  return token.type === 'name' ? token.value : describeType(token.type);
}

/** A token expression (`name:endif`, `comma`) as messages name it. */
export function describeExpectation(expression: string): string {
  const at = expression.indexOf(':');
  if (at < 0) return describeType(expression);
  const type = expression.slice(0, at);
  return type === 'name' ? expression.slice(at + 1) : describeType(type);
}

/** True when a token fits `type` or `type:value`. */
export function tokenIs(token: Token, expression: string): boolean {
  if (token.type === expression) return true;
  const at = expression.indexOf(':');
  return at > 0 && token.type === expression.slice(0, at) && token.value === expression.slice(at + 1);
}
