// Describes an error in a JSON text with the message of Python's decoder.

export interface JsonFault {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

class Fault extends Error {
  readonly at: number;
  constructor(problem: string, at: number) {
    super(problem);
    this.at = at;
  }
}

const space = /[ \t\n\r]*/y;
const literal = /null|true|false|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const maxDepth = 900;

/** The first error in a text; undefined when Python would accept it. */
export function pythonJsonError(text: string): JsonFault | undefined {
  try {
    const end = skip(text, value(text, skip(text, 0), 0));
    if (end === text.length) return undefined;
    throw new Fault('Extra data', end);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const before = text.slice(0, error.at);
    const line = before.split('\n').length;
    const column = error.at - before.lastIndexOf('\n');
    return { message: `${error.message}: line ${line} column ${column} (char ${error.at})`, line, column };
  }
}

function skip(text: string, at: number): number {
  space.lastIndex = at;
  space.test(text);
  return space.lastIndex;
}

function value(text: string, at: number, depth: number): number {
  if (depth > maxDepth) throw new Fault('maximum recursion depth exceeded', at);
  const first = text[at];
  if (first === '"') return string(text, at + 1);
  if (first === '{') return object(text, at + 1, depth);
  if (first === '[') return array(text, at + 1, depth);
  literal.lastIndex = at;
  if (!literal.test(text)) throw new Fault('Expecting value', at);
  return literal.lastIndex;
}

function object(text: string, start: number, depth: number): number {
  let at = skip(text, start);
  if (text[at] === '}') return at + 1;
  for (;;) {
    if (text[at] !== '"') throw new Fault('Expecting property name enclosed in double quotes', at);
    at = skip(text, string(text, at + 1));
    if (text[at] !== ':') throw new Fault("Expecting ':' delimiter", at);
    at = skip(text, value(text, skip(text, at + 1), depth + 1));
    if (text[at] === '}') return at + 1;
    if (text[at] !== ',') throw new Fault("Expecting ',' delimiter", at);
    at = skip(text, at + 1);
  }
}

function array(text: string, start: number, depth: number): number {
  let at = skip(text, start);
  if (text[at] === ']') return at + 1;
  for (;;) {
    at = skip(text, value(text, at, depth + 1));
    if (text[at] === ']') return at + 1;
    if (text[at] !== ',') throw new Fault("Expecting ',' delimiter", at);
    at = skip(text, at + 1);
  }
}

/** `start` is the position after the opening quote. */
function string(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) return at + 1;
    if (code < 32) throw new Fault('Invalid control character at', at);
    if (code !== 92) continue;
    at++;
    const escaped = text[at];
    if (escaped === undefined) break;
    if (escaped === 'u') {
      if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) throw new Fault('Invalid \\uXXXX escape', at);
      at += 4;
    } else if (!'"\\/bfnrt'.includes(escaped)) throw new Fault('Invalid \\escape', at - 1);
  }
  throw new Fault('Unterminated string starting at', start - 1);
}
