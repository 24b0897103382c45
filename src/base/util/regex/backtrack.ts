// Backtracking matcher for expressions with lookaround, atomic groups or back-references. Without back-references,
// a branch that failed at a position is not tried there again; every step is counted against the budget.
import { type Budget, CostError } from '../budget.ts';
import { readCodes } from '../read-codes.ts';
import { holds, kindOf, lastNewline, newline, none } from './around.ts';
import type { Instruction, Program } from './program.ts';
import type { Form } from './tree.ts';

/** A step here costs as much as several steps of the DFA; steps are counted in batches. */
const stepCost = 4;
const bundle = 256;
const maxRemembered = 1 << 26;
const noMatch = -1;

/** Whether the program matches the text. */
export function backtrack(program: Program, form: Form, text: string, budget: Budget): boolean {
  const run = new Run(program, form, text, budget);
  const last = form === 'search' ? run.length : 0;
  let found = false;
  for (let start = 0; start <= last && !found; start++) found = run.from(start);
  run.pay();
  return found;
}

/** A bit for every branch of a part of the program at every position. */
interface Memory {
  readonly firstBranch: number;
  readonly failed: Uint32Array;
}

class Run {
  readonly length: number;
  readonly #codes: Uint32Array;
  readonly #code: readonly Instruction[];
  readonly #full: boolean;
  readonly #budget: Budget;
  readonly #slots: number[];
  readonly #remembers: boolean;
  readonly #memory: Memory | undefined;
  /** A branch that failed inside a lookaround or an atomic group fails there again. */
  readonly #inside = new Map<number, Memory | undefined>();
  #steps = 0;

  constructor(program: Program, form: Form, text: string, budget: Budget) {
    this.#codes = new Uint32Array(text.length);
    this.length = readCodes(text, this.#codes);
    this.#code = program.code;
    this.#full = form === 'full';
    this.#budget = budget;
    this.#slots = program.slots === 0 ? [] : new Array<number>(program.slots).fill(noMatch);
    this.#remembers = !program.hasReferences;
    this.#memory = this.#remember(0, program.branches);
  }

  from(start: number): boolean {
    return this.#run(0, start, this.#memory, true) !== noMatch;
  }

  pay(): void {
    const steps = this.#steps;
    this.#steps = 0;
    this.#budget.spend(steps * stepCost);
  }

  #remember(firstBranch: number, branches: number): Memory | undefined {
    const bits = branches * (this.length + 1);
    if (!this.#remembers || bits === 0) return undefined;
    if (bits > maxRemembered) throw new CostError(false);
    this.#budget.spend(bits >>> 5);
    return { firstBranch, failed: new Uint32Array((bits >>> 5) + 1) };
  }

  /** Whether the branch was tried at this position before; marks it as tried. */
  #wasTried({ firstBranch, failed }: Memory, branch: number, place: number): boolean {
    const bit = (branch - firstBranch) * (this.length + 1) + place;
    const word = failed[bit >>> 5] as number;
    const mask = 1 << (bit & 31);
    failed[bit >>> 5] = word | mask;
    return (word & mask) !== 0;
  }

  /** The end of the match of the part of the program that begins here, or noMatch. */
  #run(first: number, start: number, memory: Memory | undefined, outer: boolean): number {
    /** Pending alternatives: pairs of an instruction and a position; or a negative slot number and its old value. */
    const open: number[] = [first, start];
    while (open.length > 0) {
      let place = open.pop() as number;
      let at = open.pop() as number;
      if (at < 0) {
        this.#slots[-1 - at] = place;
        continue;
      }
      for (;;) {
        if (++this.#steps >= bundle) this.pay();
        const step = this.#code[at] as Instruction;
        if (step.op === 'done') {
          if (outer && this.#full && place !== this.length) break;
          return place;
        }
        if (step.op === 'split') {
          if (memory && this.#wasTried(memory, step.branch, place)) break;
          open.push(step.second, place);
          at = step.first;
        } else if (step.op === 'set') {
          if (place >= this.length || !step.set.has(this.#codes[place] as number)) break;
          place++;
          at++;
        } else if (step.op === 'jump') at = step.to;
        else if (step.op === 'assert') {
          if (!holds(step.kind, step.ascii, this.#before(place), this.#behind(place))) break;
          at++;
        } else if (step.op === 'save' || step.op === 'turn') {
          this.#keep(step.op === 'save' ? step.slot : step.register, place, open);
          at++;
        } else if (step.op === 'turn-end') at = this.#slots[step.register] === place ? step.exit : step.loop;
        else if (step.op === 'same') {
          const behind = this.#same(step.group, step.ignoreCase, place);
          if (behind === noMatch) break;
          place = behind;
          at++;
        } else {
          const behind = this.#sub(at, step, place, open);
          if (behind === noMatch) break;
          place = behind;
          at = step.next;
        }
      }
    }
    return noMatch;
  }

  #keep(slot: number, value: number, open: number[]): void {
    open.push(-1 - slot, this.#slots[slot] as number);
    this.#slots[slot] = value;
  }

  #sub(at: number, step: Extract<Instruction, { op: 'sub' }>, place: number, open: number[]): number {
    const start = place - step.back;
    const slots = this.#slots.length === 0 ? this.#slots : this.#slots.slice();
    if (!this.#inside.has(at)) this.#inside.set(at, this.#remember(step.firstBranch, step.branches));
    const end = start < 0 ? noMatch : this.#run(at + 1, start, this.#inside.get(at), false);
    const isFound = end !== noMatch;
    // Branches on the successful path did not fail.
    if (isFound) this.#inside.delete(at);
    // Captures of a negative lookaround are dropped; those of the others are undone when backtracking.
    for (let slot = 0; slot < slots.length; slot++) {
      const value = this.#slots[slot] as number;
      if (value === slots[slot]) continue;
      this.#slots[slot] = slots[slot] as number;
      if (isFound && step.kind !== 'is-not') this.#keep(slot, value, open);
    }
    if (step.kind === 'is-not') return isFound ? noMatch : place;
    if (!isFound) return noMatch;
    return step.kind === 'atomic' ? end : place;
  }

  #same(group: number, ignoreCase: boolean, place: number): number {
    const from = this.#slots[2 * group] as number;
    const to = this.#slots[2 * group + 1] as number;
    if (to === noMatch || from === noMatch || to < from) return noMatch;
    this.#steps += to - from;
    for (let at = from; at < to; at++) {
      const behind = place + at - from;
      if (behind >= this.length || !isSame(this.#codes[at] as number, this.#codes[behind] as number, ignoreCase))
        return noMatch;
    }
    return place + to - from;
  }

  #before(place: number): number {
    return place === 0 ? none : kindOf(this.#codes[place - 1] as number);
  }

  #behind(place: number): number {
    if (place >= this.length) return none;
    const code = this.#codes[place] as number;
    return code === 10 && place === this.length - 1 ? newline | lastNewline : kindOf(code);
  }
}

function isSame(a: number, b: number, ignoreCase: boolean): boolean {
  if (a === b || !ignoreCase) return a === b;
  return String.fromCodePoint(a).toLowerCase() === String.fromCodePoint(b).toLowerCase();
}
