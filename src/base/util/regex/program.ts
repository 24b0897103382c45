// The tree as a list of simple instructions, which dfa.ts runs in parallel and backtrack.ts one after the other.
import { HaliteError } from '../../errors/index.ts';
import { CharacterSet } from './character-set.ts';
import { type AssertKind, type Node, type Parsed, unbounded, widthOf } from './tree.ts';

export type Instruction =
  | { readonly op: 'set'; readonly set: CharacterSet }
  /** Continues at `first`, or else at `second`. */
  | { readonly op: 'split'; first: number; second: number; readonly branch: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'assert'; readonly kind: AssertKind; readonly ascii: boolean }
  | { readonly op: 'save'; readonly slot: number }
  | { readonly op: 'same'; readonly group: number; readonly ignoreCase: boolean }
  /** Records where an iteration of a loop begins; an iteration that consumes nothing is the last. */
  | { readonly op: 'turn'; readonly register: number }
  | { readonly op: 'turn-end'; readonly register: number; readonly loop: number; exit: number }
  /** Runs the instructions up to `done` separately, starting `back` characters before; then continues at `next`. */
  | {
      readonly op: 'sub';
      readonly kind: 'atomic' | 'is' | 'is-not';
      readonly back: number;
      next: number;
      readonly firstBranch: number;
      branches: number;
    }
  | { readonly op: 'done' };

export interface Program {
  readonly code: readonly Instruction[];
  /** No lookaround, no atomic group, no back-reference: a DFA can run it. */
  readonly isRegular: boolean;
  readonly hasReferences: boolean;
  readonly hasAsserts: boolean;
  readonly branches: number;
  readonly slots: number;
}

/** Repeats are expanded: this is the maximum number of instructions. */
const maxInstructions = 20_000;

export function compileProgram({ tree, ignoreCase, groups }: Pick<Parsed, 'tree' | 'ignoreCase' | 'groups'>): Program {
  const references = hasPart(tree, (node) => node.type === 'same');
  const isRegular = !references && !hasPart(tree, isMoreThanRegular);
  const writer = new Writer(ignoreCase, groups, references, isRegular);
  writer.write(tree);
  writer.add({ op: 'done' });
  return writer.program();
}

const isMoreThanRegular = (node: Node): boolean =>
  node.type === 'look' || node.type === 'atomic' || (node.type === 'repeat' && node.mode === 'possessive');

function hasPart(node: Node, is: (node: Node) => boolean): boolean {
  if (is(node)) return true;
  if (node.type === 'sequence') return node.items.some((item) => hasPart(item, is));
  if (node.type === 'choice') return node.options.some((option) => hasPart(option, is));
  return 'inner' in node && hasPart(node.inner, is);
}

class Writer {
  readonly code: Instruction[] = [];
  readonly #ignoreCase: boolean;
  readonly #references: boolean;
  readonly #regular: boolean;
  readonly #sets = new Map<string, CharacterSet>();
  #registers: number;
  #branches = 0;
  #guards = false;
  #asserts = false;

  constructor(ignoreCase: boolean, groups: number, references: boolean, regular: boolean) {
    this.#ignoreCase = ignoreCase;
    this.#references = references;
    this.#regular = regular;
    this.#registers = 2 * groups + 2;
  }

  program(): Program {
    return {
      code: this.code,
      isRegular: this.#regular,
      hasReferences: this.#references,
      hasAsserts: this.#asserts,
      branches: this.#branches,
      slots: this.#references || this.#guards ? this.#registers : 0,
    };
  }

  add(instruction: Instruction): number {
    if (this.code.length >= maxInstructions)
      throw new HaliteError('codec.limit', 'A regular expression has too many repeats');
    return this.code.push(instruction) - 1;
  }

  write(node: Node): void {
    switch (node.type) {
      case 'set':
        this.add({ op: 'set', set: this.#set(node.source) });
        return;
      case 'assert':
        this.#asserts = true;
        this.add({ op: 'assert', kind: node.kind, ascii: node.ascii });
        return;
      case 'sequence':
        for (const item of node.items) this.write(item);
        return;
      case 'choice':
        this.#choice(node.options);
        return;
      case 'repeat':
        if (node.mode === 'possessive') this.#sub('atomic', 0, { ...node, mode: 'greedy' });
        else this.#repeat(node.inner, node.min, node.max, node.mode === 'lazy');
        return;
      case 'group':
        if (this.#references) this.add({ op: 'save', slot: 2 * node.number });
        this.write(node.inner);
        if (this.#references) this.add({ op: 'save', slot: 2 * node.number + 1 });
        return;
      case 'look':
        this.#sub(node.negative ? 'is-not' : 'is', node.back ?? 0, node.inner);
        return;
      case 'atomic':
        this.#sub('atomic', 0, node.inner);
        return;
      case 'same':
        this.add({ op: 'same', group: node.number, ignoreCase: node.ignoreCase });
    }
  }

  #set(source: string): CharacterSet {
    const known = this.#sets.get(source);
    if (known) return known;
    const made = new CharacterSet(source, this.#ignoreCase);
    this.#sets.set(source, made);
    return made;
  }

  /** A split whose two targets are filled in later. */
  #split(): { op: 'split'; first: number; second: number; branch: number } {
    const split = { op: 'split' as const, first: 0, second: 0, branch: this.#branches++ };
    this.add(split);
    return split;
  }

  #choice(options: readonly Node[]): void {
    const ends: { op: 'jump'; to: number }[] = [];
    for (const option of options.slice(0, -1)) {
      const split = this.#split();
      split.first = this.code.length;
      this.write(option);
      const end = { op: 'jump' as const, to: 0 };
      this.add(end);
      ends.push(end);
      split.second = this.code.length;
    }
    this.write(options.at(-1) as Node);
    for (const end of ends) end.to = this.code.length;
  }

  #repeat(inner: Node, min: number, max: number, lazy: boolean): void {
    for (let count = 0; count < min; count++) {
      const before = this.code.length;
      this.write(inner);
      if (this.code.length === before) return;
    }
    if (max === unbounded) {
      this.#loop(inner, lazy);
      return;
    }
    const splits: { first: number; second: number }[] = [];
    for (let count = min; count < max; count++) {
      const split = this.#split();
      split.first = this.code.length;
      splits.push(split);
      this.write(inner);
      if (split.first === this.code.length) break;
    }
    for (const split of splits) this.#leave(split, lazy);
  }

  #loop(inner: Node, lazy: boolean): void {
    const start = this.code.length;
    const split = this.#split();
    split.first = this.code.length;
    // In a DFA, an iteration that consumes nothing reaches no new state.
    const guarded = !this.#regular && widthOf(inner, new Map())[0] === 0;
    const register = guarded ? this.#registers++ : 0;
    if (guarded) {
      this.#guards = true;
      this.add({ op: 'turn', register });
    }
    this.write(inner);
    const end = guarded
      ? { op: 'turn-end' as const, register, loop: start, exit: 0 }
      : { op: 'jump' as const, to: start };
    this.add(end);
    if ('exit' in end) end.exit = this.code.length;
    this.#leave(split, lazy);
  }

  /** The exit of a repeat begins here; for a lazy repeat it is tried first. */
  #leave(split: { first: number; second: number }, lazy: boolean): void {
    const inside = split.first;
    split.first = lazy ? this.code.length : inside;
    split.second = lazy ? inside : this.code.length;
  }

  #sub(kind: 'atomic' | 'is' | 'is-not', back: number, inner: Node): void {
    const sub = { op: 'sub' as const, kind, back, next: 0, firstBranch: this.#branches, branches: 0 };
    this.add(sub);
    this.write(inner);
    this.add({ op: 'done' });
    sub.next = this.code.length;
    sub.branches = this.#branches - sub.firstBranch;
  }
}
