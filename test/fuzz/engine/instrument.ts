// Puts a counter at every place where the way through a JavaScript file forks, and collects its texts as a dictionary.
import { parseAst } from 'vite';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Instrumented {
  readonly code: string;
  /** Texts of the file: what it compares input with is among them. */
  readonly texts: readonly string[];
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/**
 * The counters of a file are `__c`, a piece of the counters of the whole run. Insertions are noted in the order of
 * the walk, so that those at one place stay in the order in which they nest.
 */
class Instrumenter {
  readonly #insertions: { at: number; text: string }[] = [];
  readonly texts = new Set<string>();
  edges = 0;

  #insert(at: number, text: string): void {
    this.#insertions.push({ at, text });
  }

  #count(): string {
    return `__c[${this.edges++}]++`;
  }

  /** A statement that runs only on one way. */
  #statement(node: Node): void {
    if (node.type === 'BlockStatement') {
      this.#insert(node.start + 1, `${this.#count()};`);
      this.walk(node);
      return;
    }
    this.#insert(node.start, `{${this.#count()};`);
    this.walk(node);
    this.#insert(node.end, '}');
  }

  /** An expression that is evaluated only on one way. */
  #expression(node: Node): void {
    this.#insert(node.start, `(${this.#count()},`);
    this.walk(node);
    this.#insert(node.end, ')');
  }

  #children(node: Node, except: readonly string[] = []): void {
    for (const [name, value] of Object.entries(node)) {
      if (except.includes(name)) continue;
      if (Array.isArray(value)) for (const item of value) isNode(item) && this.walk(item);
      else if (isNode(value)) this.walk(value);
    }
  }

  walk(node: Node): void {
    const part = (name: string): Node => node[name] as Node;
    switch (node.type) {
      case 'Literal': {
        const text = node['value'];
        if (typeof text === 'string' && text.length > 0 && text.length <= 32) this.texts.add(text);
        return;
      }
      case 'IfStatement':
        this.walk(part('test'));
        this.#statement(part('consequent'));
        if (isNode(node['alternate'])) this.#statement(node['alternate']);
        else this.#insert(node.end, ` else {${this.#count()};}`);
        return;
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
        this.#children(node, ['body']);
        this.#statement(part('body'));
        return;
      case 'ConditionalExpression':
        this.walk(part('test'));
        this.#expression(part('consequent'));
        this.#expression(part('alternate'));
        return;
      case 'LogicalExpression':
        this.walk(part('left'));
        this.#expression(part('right'));
        return;
      case 'SwitchCase': {
        const [first] = node['consequent'] as Node[];
        if (isNode(node['test'])) this.walk(node['test']);
        if (first) this.#insert(first.start, `${this.#count()};`);
        for (const statement of node['consequent'] as Node[]) this.walk(statement);
        return;
      }
      case 'CatchClause':
        this.#statement(part('body'));
        return;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        this.#children(node, ['body', 'id']);
        if (part('body').type === 'BlockStatement') this.#statement(part('body'));
        else this.#expression(part('body'));
        return;
      default:
        this.#children(node);
    }
  }

  apply(code: string): string {
    const sorted = this.#insertions.sort((a, b) => a.at - b.at);
    let out = '';
    let at = 0;
    for (const insertion of sorted) {
      out += code.slice(at, insertion.at) + insertion.text;
      at = insertion.at;
    }
    return out + code.slice(at);
  }
}

/** The file with counters; `__coverage.file(count)` gives it its piece when it is loaded. */
export function instrument(code: string): Instrumented {
  const walker = new Instrumenter();
  walker.walk(parseAst(code) as unknown as Node);
  const body = walker.apply(code);
  return { code: `const __c = globalThis.__coverage.file(${walker.edges});\n${body}`, texts: [...walker.texts] };
}
