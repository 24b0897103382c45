// Parses command lines with the rules of Python's optparse, on which users and scripts rely.

import { pyRepr } from '../base/codec/python/repr.ts';
import { HaliteError } from '../base/errors/index.ts';
import { nearest } from '../base/util/nearest.ts';
import { parsePyFloat, parsePyInt } from './pynumbers.ts';

export type OptionAction =
  | 'store'
  | 'store_true'
  | 'store_false'
  | 'store_const'
  | 'append'
  | 'count'
  | 'help'
  | 'version';

export type OptionScalar = string | number | bigint | boolean | null;
export type OptionValue = OptionScalar | OptionValue[];

export interface OptionSpec {
  /** `['-t', '--timeout']`: short forms first, then long ones. */
  readonly flags: readonly string[];
  readonly dest: string;
  readonly action?: OptionAction;
  readonly type?: 'string' | 'int' | 'float' | 'choice';
  /** Number of values, default 1; more give a list. */
  readonly nargs?: number;
  /** Halite only: `--durable` or `--durable=24h`; without `=` the constant is stored. */
  readonly optionalValue?: boolean;
  readonly constant?: OptionValue;
  readonly default?: OptionValue;
  readonly choices?: readonly string[];
  readonly metavar?: string;
  readonly help: string;
  /** Not an option of Salt 3006: never makes an abbreviation of Salt's options ambiguous. */
  readonly ours?: boolean;
  /** Applied to the text before it is stored. */
  readonly convert?: (text: string) => string;
}

export interface OptionGroup {
  readonly title: string;
  readonly description?: string;
  readonly options: readonly OptionSpec[];
}

export interface CommandSpec {
  readonly prog: string;
  /** With `%prog`. */
  readonly usage: string;
  readonly description?: string;
  readonly epilog?: string;
  readonly options: readonly OptionSpec[];
  readonly groups: readonly OptionGroup[];
}

export interface ParsedCommandLine {
  /** By destination, defaults included. */
  readonly values: Record<string, OptionValue>;
  /** Destinations named on the command line. */
  readonly explicit: Set<string>;
  readonly args: string[];
  /** `--help` or `--version` was found; nothing after it was parsed. */
  readonly wants?: 'help' | 'version';
}

/** A usage error; `suggestion` is the option that was probably meant. */
function usageError(message: string, suggestion?: string): HaliteError {
  return new HaliteError('cli.usage', message, suggestion ? { hint: `Did you mean ${suggestion}?` } : {});
}

export function allOptions(spec: CommandSpec): OptionSpec[] {
  return [...spec.options, ...spec.groups.flatMap((group) => group.options)];
}

export function takesValue(option: OptionSpec): boolean {
  const action = option.action ?? 'store';
  return action === 'store' || action === 'append';
}

/** The default of every destination. When two options share one, the later default applies, as in optparse. */
export function defaultValues(spec: CommandSpec): Record<string, OptionValue> {
  const values: Record<string, OptionValue> = Object.create(null);
  for (const option of allOptions(spec)) {
    if (option.action === 'help' || option.action === 'version') continue;
    if (option.default !== undefined) values[option.dest] = option.default;
    else if (!(option.dest in values)) values[option.dest] = null;
  }
  return values;
}

/** Throws `cli.usage` where optparse reports an error. */
export function parseCommandLine(spec: CommandSpec, argv: readonly string[]): ParsedCommandLine {
  return new Reader(spec, argv).read();
}

class Reader {
  readonly #flags = new Map<string, OptionSpec>();
  readonly #rest: string[];
  readonly #values: Record<string, OptionValue>;
  readonly #explicit = new Set<string>();
  #wants: 'help' | 'version' | undefined;

  constructor(spec: CommandSpec, argv: readonly string[]) {
    for (const option of allOptions(spec)) for (const flag of option.flags) this.#flags.set(flag, option);
    this.#values = defaultValues(spec);
    this.#rest = [...argv];
  }

  read(): ParsedCommandLine {
    const args: string[] = [];
    const rest = this.#rest;
    while (rest.length > 0 && this.#wants === undefined) {
      const arg = rest.shift()!;
      if (arg === '--') break;
      if (arg.startsWith('--')) this.#long(arg);
      else if (arg.startsWith('-') && arg.length > 1) this.#short(arg);
      else args.push(arg);
    }
    return {
      values: this.#values,
      explicit: this.#explicit,
      args: [...args, ...rest],
      ...(this.#wants === undefined ? {} : { wants: this.#wants }),
    };
  }

  #long(arg: string): void {
    const equals = arg.indexOf('=');
    const typed = equals < 0 ? arg : arg.slice(0, equals);
    const flag = this.#match(typed);
    const option = this.#flags.get(flag)!;
    if (equals >= 0) {
      if (!takesValue(option)) throw usageError(`${flag} option does not take a value`);
      this.#rest.unshift(arg.slice(equals + 1));
    }
    if (equals < 0 && option.optionalValue) this.#store(option, option.constant ?? null);
    else this.#apply(flag, option);
  }

  #short(arg: string): void {
    const letters = [...arg.slice(1)];
    for (let at = 0; at < letters.length && this.#wants === undefined; at++) {
      const flag = `-${letters[at]}`;
      const option = this.#flags.get(flag);
      if (!option) throw usageError(`no such option: ${flag}`);
      const value = takesValue(option);
      // `-t5`: the text after the letter is the value.
      if (value && at + 1 < letters.length) this.#rest.unshift(letters.slice(at + 1).join(''));
      this.#apply(flag, option);
      if (value) return;
    }
  }

  /** The full name of a long option from a unique prefix. */
  #match(typed: string): string {
    if (this.#flags.has(typed)) return typed;
    const longer = [...this.#flags.keys()].filter((flag) => flag.startsWith('--') && flag.startsWith(typed));
    const salts = longer.filter((flag) => !this.#flags.get(flag)!.ours);
    const possible = salts.length > 0 ? salts : longer;
    if (possible.length === 1) return possible[0]!;
    if (possible.length > 1) throw usageError(`ambiguous option: ${typed} (${possible.sort().join(', ')}?)`);
    const known = [...this.#flags.keys()].filter((flag) => flag.startsWith('--'));
    throw usageError(`no such option: ${typed}`, nearest(typed, known));
  }

  #apply(flag: string, option: OptionSpec): void {
    const action = option.action ?? 'store';
    if (action === 'help' || action === 'version') {
      this.#wants = action;
    } else if (action === 'store') {
      this.#store(option, this.#take(flag, option));
    } else if (action === 'append') {
      const before = this.#values[option.dest];
      this.#store(option, [...(Array.isArray(before) ? before : []), this.#take(flag, option)]);
    } else if (action === 'count') {
      this.#store(option, Number(this.#values[option.dest] ?? 0) + 1);
    } else {
      this.#store(option, action === 'store_const' ? (option.constant ?? null) : action === 'store_true');
    }
  }

  #store(option: OptionSpec, value: OptionValue): void {
    this.#values[option.dest] = value;
    this.#explicit.add(option.dest);
  }

  #take(flag: string, option: OptionSpec): OptionValue {
    const count = option.nargs ?? 1;
    if (this.#rest.length < count) {
      throw usageError(`${flag} option requires ${count} argument${count === 1 ? '' : 's'}`);
    }
    const taken = this.#rest.splice(0, count).map((text) => convert(flag, option, text));
    return count === 1 ? taken[0]! : taken;
  }
}

function convert(flag: string, option: OptionSpec, text: string): OptionScalar {
  switch (option.type) {
    case 'int': {
      const number = parsePyInt(text);
      if (number === undefined) throw usageError(`option ${flag}: invalid integer value: ${pyRepr(text)}`);
      return number;
    }
    case 'float': {
      const number = parsePyFloat(text);
      if (number === undefined) throw usageError(`option ${flag}: invalid floating-point value: ${pyRepr(text)}`);
      return number;
    }
    case 'choice': {
      const choices = option.choices ?? [];
      if (choices.includes(text)) return text;
      const listed = choices.map(pyRepr).join(', ');
      throw usageError(`option ${flag}: invalid choice: ${pyRepr(text)} (choose from ${listed})`);
    }
    default:
      return option.convert ? option.convert(text) : text;
  }
}
