// Scope analysis: which variable a name refers to in each frame, and its initial value.
import { childrenOf, type For, type Node, type Stmt } from '../parser/nodes.ts';

/** How a variable gets its value when its frame is entered. */
export type Load =
  | { readonly kind: 'param' }
  | { readonly kind: 'resolve'; readonly name: string }
  | { readonly kind: 'alias'; readonly of: string }
  | { readonly kind: 'undefined' };

/** Names of one frame. Identifiers are `level:name`; frames at one level of one function share them. */
export class Symbols {
  readonly level: number;
  readonly parent: Symbols | undefined;
  readonly refs: Map<string, string>;
  readonly loads: Map<string, Load>;
  readonly stores: Set<string>;

  constructor(parent: Symbols | undefined, level = parent === undefined ? 0 : parent.level + 1) {
    this.parent = parent;
    this.level = level;
    this.refs = new Map();
    this.loads = new Map();
    this.stores = new Set();
  }

  copy(): Symbols {
    const duplicate = new Symbols(this.parent, this.level);
    for (const [name, ident] of this.refs) duplicate.refs.set(name, ident);
    for (const [ident, load] of this.loads) duplicate.loads.set(ident, load);
    for (const name of this.stores) duplicate.stores.add(name);
    return duplicate;
  }

  #define(name: string, load: Load): string {
    const ident = `${this.level}:${name}`;
    this.refs.set(name, ident);
    this.loads.set(ident, load);
    return ident;
  }

  find(name: string): string | undefined {
    return this.refs.get(name) ?? this.parent?.find(name);
  }

  ref(name: string): string {
    const ident = this.find(name);
    if (ident === undefined) throw new Error(`name ${name} was not analysed`);
    return ident;
  }

  store(name: string): void {
    this.stores.add(name);
    if (this.refs.has(name)) return;
    const outer = this.parent?.find(name);
    this.#define(name, outer === undefined ? { kind: 'undefined' } : { kind: 'alias', of: outer });
  }

  declareParameter(name: string): string {
    this.stores.add(name);
    return this.#define(name, { kind: 'param' });
  }

  load(name: string): void {
    if (this.find(name) === undefined) this.#define(name, { kind: 'resolve', name });
  }

  /** Joins the branches of an `if`: a variable set in only some of them must start from the outer value. */
  branchUpdate(branches: readonly Symbols[]): void {
    const fresh = new Set<string>();
    for (const branch of branches) for (const name of branch.stores) if (!this.stores.has(name)) fresh.add(name);
    for (const branch of branches) {
      for (const [name, ident] of branch.refs) this.refs.set(name, ident);
      for (const [ident, load] of branch.loads) this.loads.set(ident, load);
      for (const name of branch.stores) this.stores.add(name);
    }
    for (const name of fresh) {
      const ident = this.ref(name);
      const outer = this.parent?.find(name);
      this.loads.set(ident, outer === undefined ? { kind: 'resolve', name } : { kind: 'alias', of: outer });
    }
  }

  /** Every name set here or further out, with its variable. */
  allStores(): Map<string, string> {
    const out = new Map<string, string>();
    for (let node: Symbols | undefined = this; node !== undefined; node = node.parent) {
      for (const name of [...node.stores].sort()) if (!out.has(name)) out.set(name, this.ref(name));
    }
    return out;
  }
}

/** Visits the nodes of one frame; bodies with their own scope are skipped. */
class FrameVisitor {
  #symbols: Symbols;
  constructor(symbols: Symbols) {
    this.#symbols = symbols;
  }

  visitAll(nodes: readonly Node[]): void {
    for (const node of nodes) this.visit(node);
  }

  visit(node: Node, asParameter = false): void {
    switch (node.kind) {
      case 'Name':
        if (asParameter || node.ctx === 'param') this.#symbols.declareParameter(node.name);
        else if (node.ctx === 'store') this.#symbols.store(node.name);
        else this.#symbols.load(node.name);
        return;
      case 'NSRef':
        this.#symbols.load(node.name);
        return;
      case 'Tuple':
        for (const item of node.items) this.visit(item, asParameter);
        return;
      default:
        this.#visitStatement(node);
    }
  }

  #visitStatement(node: Node): void {
    switch (node.kind) {
      case 'If':
        this.visit(node.test);
        this.#symbols.branchUpdate([this.#branch(node.body), this.#branch(node.elifs), this.#branch(node.else)]);
        return;
      case 'Macro':
        this.#symbols.store(node.name);
        return;
      case 'Import':
        this.visit(node.template);
        this.#symbols.store(node.target);
        return;
      case 'FromImport':
        this.visit(node.template);
        for (const { alias } of node.names) this.#symbols.store(alias);
        return;
      case 'Assign':
        this.visit(node.node);
        this.visit(node.target);
        return;
      case 'For':
        this.visit(node.iter);
        return;
      case 'CallBlock':
        this.visit(node.call);
        return;
      case 'FilterBlock':
        this.visit(node.filter);
        return;
      case 'With':
        this.visitAll(node.values);
        return;
      case 'AssignBlock':
        this.visit(node.target);
        return;
      case 'AutoEscape':
      case 'Block':
        return;
      default:
        this.visitAll(childrenOf(node));
    }
  }

  #branch(nodes: readonly Stmt[]): Symbols {
    const original = this.#symbols;
    const copy = original.copy();
    this.#symbols = copy;
    this.visitAll(nodes);
    this.#symbols = original;
    return copy;
  }
}

/** Analyses nodes as parts of the frame of `symbols`. */
export function analyze(symbols: Symbols, nodes: readonly Node[]): void {
  new FrameVisitor(symbols).visitAll(nodes);
}

/** Analyses one part of a loop: its body, its filter or its `else`. */
export function analyzeLoop(symbols: Symbols, node: For, part: 'body' | 'test' | 'else'): void {
  const visitor = new FrameVisitor(symbols);
  if (part !== 'else') visitor.visit(node.target, true);
  if (part === 'body') visitor.visitAll(node.body);
  else if (part === 'test') visitor.visitAll(node.test === undefined ? [] : [node.test]);
  else visitor.visitAll(node.else);
}

/** Which of the names are read before anything in these nodes assigns them; blocks are not entered. */
export function findUndeclared(nodes: readonly Node[], names: readonly string[]): Set<string> {
  const open = new Set(names);
  const found = new Set<string>();
  const visit = (node: Node): void => {
    if (node.kind === 'Block') return;
    if (node.kind === 'Name') {
      if (node.ctx === 'load' && open.has(node.name)) found.add(node.name);
      else open.delete(node.name);
      return;
    }
    for (const child of childrenOf(node)) visit(child);
  };
  for (const node of nodes) visit(node);
  return found;
}
