// Runs all alternatives of a regular program at once: one table lookup per character, with a table that is built
// lazily.
// The time is bounded by the length of the text times the length of the program, for any input.
import type { Budget } from '../budget.ts';
import { holds, kindOf, lastNewline, newline, none } from './around.ts';
import type { Program } from './program.ts';
import type { Form } from './tree.ts';

interface State {
  /** Instructions that are reachable before the next character is known. */
  readonly at: readonly number[];
  readonly before: number;
  /** By ASCII character, then by end and last. */
  readonly next: (State | undefined)[];
  wide: Map<number, State> | undefined;
}

const end = 128;
const last = 129;
/** Maximum number of cached states and wide characters; when exceeded, the table is cleared. */
const maxStates = 64;
const maxWide = 64;
/** Steps counted for building an entry of the table, per instruction. */
const buildingCost = 10;

const final = (): State => ({ at: [], before: 0, next: [], wide: undefined });
const matched = final();
const failed = final();

export class Dfa {
  readonly #program: Program;
  readonly #form: Form;
  readonly #seen: Int32Array;
  readonly #states = new Map<string, State>();
  #turn = 0;
  #start: State;

  constructor(program: Program, form: Form) {
    this.#program = program;
    this.#form = form;
    this.#seen = new Int32Array(program.code.length);
    this.#start = this.#state([0], none);
  }

  test(text: string, budget: Budget): boolean {
    budget.spend(text.length + 1);
    const { length } = text;
    let state = this.#start;
    for (let at = 0; at < length; at++) {
      let code = text.charCodeAt(at);
      let next: State | undefined;
      if (code < end) {
        const symbol = code === 10 && at === length - 1 ? last : code;
        next = state.next[symbol] ?? this.#step(state, code, symbol, budget);
      } else {
        if (code >= 0xd800 && code < 0xdc00) {
          code = text.codePointAt(at) as number;
          if (code > 0xffff) at++;
        }
        next = state.wide?.get(code) ?? this.#step(state, code, code + last, budget);
      }
      if (next === matched) return true;
      if (next === failed) return false;
      state = next;
    }
    return (state.next[end] ?? this.#step(state, -1, end, budget)) === matched;
  }

  #step(state: State, code: number, symbol: number, budget: Budget): State {
    budget.spend(this.#program.code.length * buildingCost);
    const next = this.#after(state, code, symbol);
    if (symbol <= last) state.next[symbol] = next;
    else {
      state.wide ??= new Map();
      if (state.wide.size < maxWide) state.wide.set(code, next);
    }
    return next;
  }

  /** The state after a character, or the result when it is certain. */
  #after(state: State, code: number, symbol: number): State {
    const { code: program, hasAsserts } = this.#program;
    const isEnd = symbol === end;
    const kind = hasAsserts && !isEnd ? kindOf(code) : 0;
    const behind = isEnd ? none : symbol === last ? newline | lastNewline : kind;
    const reached: number[] = [];
    this.#turn++;
    const open = [...state.at];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.#seen[at] === this.#turn) continue;
      this.#seen[at] = this.#turn;
      const step = program[at];
      if (step?.op === 'split') open.push(step.second, step.first);
      else if (step?.op === 'jump') open.push(step.to);
      else if (step?.op === 'assert') {
        if (holds(step.kind, step.ascii, state.before, behind)) open.push(at + 1);
      } else if (step?.op === 'done') {
        if (isEnd || this.#form !== 'full') return matched;
      } else if (step?.op === 'set' && !isEnd && step.set.has(code)) reached.push(at + 1);
    }
    if (isEnd) return failed;
    if (this.#form === 'search') reached.push(0);
    return reached.length === 0 ? failed : this.#state(reached, hasAsserts ? kind : 0);
  }

  #state(at: number[], before: number): State {
    at.sort((a, b) => a - b);
    const key = `${before}:${at.join()}`;
    const known = this.#states.get(key);
    if (known) return known;
    if (this.#states.size >= maxStates) {
      this.#states.clear();
      // The table of the first state refers to the old states too.
      this.#start = { ...this.#start, next: new Array(last + 1), wide: undefined };
    }
    const made: State = { at, before, next: new Array(last + 1), wide: undefined };
    this.#states.set(key, made);
    return made;
  }
}
