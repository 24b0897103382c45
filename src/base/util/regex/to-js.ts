// Writes the tree as a JavaScript expression, for trusted patterns on trusted texts, and where groups are needed.
import { wordSet } from './sets.ts';
import { type Node, type Parsed, unbounded } from './tree.ts';

/** Python group number → JavaScript group number; they differ after an atomic group. */
interface Writer {
  readonly numbers: Map<number, number>;
  count: number;
}

export function writeJs({ tree }: Parsed): string {
  return write(tree, { numbers: new Map(), count: 0 });
}

function write(node: Node, writer: Writer): string {
  switch (node.type) {
    case 'set':
      return node.source;
    case 'assert':
      return writeAssert(node.kind, wordSet(node.ascii));
    case 'sequence':
      return node.items
        .map((item) => (item.type === 'choice' ? `(?:${write(item, writer)})` : write(item, writer)))
        .join('');
    case 'choice':
      return node.options.map((option) => write(option, writer)).join('|');
    case 'repeat':
      return writeRepeat(node, writer);
    case 'group': {
      const number = ++writer.count;
      const inner = write(node.inner, writer);
      writer.numbers.set(node.number, number);
      return `(${node.name === undefined ? '' : `?<${node.name}>`}${inner})`;
    }
    case 'look': {
      const sign = `${node.back === undefined ? '' : '<'}${node.negative ? '!' : '='}`;
      return `(?${sign}${write(node.inner, writer)})`;
    }
    case 'atomic':
      return atomic(writer, () => write(node.inner, writer));
    case 'same':
      return `(?:\\${writer.numbers.get(node.number)})`;
  }
}

function writeAssert(kind: Extract<Node, { type: 'assert' }>['kind'], word: string): string {
  switch (kind) {
    case 'start':
      return '(?:^)';
    case 'end':
      return '(?:$)';
    case 'before-last-newline':
      return '(?=\\n?$)';
    case 'line-start':
      return '(?:^|(?<=\\n))';
    case 'line-end':
      return '(?=\\n|$)';
    case 'boundary':
      return `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
    case 'inside':
      return `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word})(?!^$))`;
  }
}

function writeRepeat(node: Extract<Node, { type: 'repeat' }>, writer: Writer): string {
  const { inner, min, max, mode } = node;
  const body = (): string => {
    const text = write(inner, writer);
    const whole = inner.type === 'set' || inner.type === 'group' || inner.type === 'same' ? text : `(?:${text})`;
    return `${whole}{${min},${max === unbounded ? '' : max}}${mode === 'lazy' ? '?' : ''}`;
  };
  return mode === 'possessive' ? atomic(writer, body) : body();
}

/** JavaScript has no atomic groups: a capturing lookahead followed by a back-reference does the same. */
function atomic(writer: Writer, inside: () => string): string {
  const number = ++writer.count;
  return `(?=(${inside()}))\\${number}(?:)`;
}
