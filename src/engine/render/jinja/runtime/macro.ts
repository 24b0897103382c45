// Macros, and the functions behind `caller`.
import { typeError } from '../errors.ts';
import { PyDict } from './dict.ts';
import { Markup } from './markup.ts';
import { repr } from './print.ts';
import type { Runtime } from './runtime.ts';
import { PyTuple } from './sequence.ts';
import { type Kwargs, type MaybePromise, PyObject, type PyValue } from './value.ts';

export interface MacroFacts {
  /** None for the body of a call block. */
  readonly name: string | null;
  readonly args: readonly string[];
  readonly catchKwargs: boolean;
  readonly catchVarargs: boolean;
  readonly caller: boolean;
}

/** Runs the body with values in the order: arguments, caller, kwargs, varargs; undefined asks for a default. */
export type MacroBody = (values: (PyValue | undefined)[]) => MaybePromise<string>;

export class Macro extends PyObject {
  readonly facts: MacroFacts;
  readonly #body: MacroBody;

  constructor(facts: MacroFacts, body: MacroBody) {
    super();
    this.facts = facts;
    this.#body = body;
  }
  typeName(): string {
    return 'Macro';
  }
  override moduleName(): string {
    return 'jinja2.runtime';
  }
  override repr(): string {
    return `<Macro ${this.facts.name === null ? 'anonymous' : repr(this.facts.name)}>`;
  }
  override attr(name: string): PyValue | undefined {
    const { facts } = this;
    switch (name) {
      case 'name':
        return facts.name;
      case 'arguments':
        return new PyTuple([...facts.args]);
      case 'catch_kwargs':
        return facts.catchKwargs;
      case 'catch_varargs':
        return facts.catchVarargs;
      case 'caller':
        return facts.caller;
      case 'explicit_caller':
        return facts.args.includes('caller');
      default:
        return undefined;
    }
  }

  override invoke(rt: Runtime, args: PyValue[], kwargs: Kwargs | undefined): MaybePromise<PyValue> {
    const escaping = rt.frame?.context.autoescape === true;
    const text = this.#body(this.#arrange(rt, args, new Map(kwargs)));
    if (!escaping) return text;
    return text instanceof Promise ? text.then((later) => new Markup(later)) : new Markup(text);
  }

  #arrange(rt: Runtime, args: PyValue[], named: Map<string, PyValue>): (PyValue | undefined)[] {
    const { facts } = this;
    const count = facts.args.length;
    const values: (PyValue | undefined)[] = args.slice(0, count);
    let foundCaller = false;
    if (values.length === count) foundCaller = facts.args.includes('caller');
    for (const name of facts.args.slice(values.length)) {
      values.push(named.get(name));
      named.delete(name);
      if (name === 'caller') foundCaller = true;
    }
    if (facts.caller && !foundCaller) {
      values.push(named.get('caller') ?? rt.undefined({ hint: 'No caller defined', name: 'caller' }));
      named.delete('caller');
    }
    if (facts.catchKwargs) values.push(PyDict.from(named));
    else this.#refuse(named);
    if (facts.catchVarargs) values.push(new PyTuple(args.slice(count)));
    else if (args.length > count) {
      throw typeError(`macro ${repr(facts.name)} takes not more than ${count} argument(s)`);
    }
    return values;
  }

  #refuse(named: ReadonlyMap<string, PyValue>): void {
    const [first] = named.keys();
    if (first === undefined) return;
    const name = repr(this.facts.name);
    if (named.has('caller')) {
      throw typeError(
        `macro ${name} was invoked with two values for the special caller argument. This is most likely a bug.`,
      );
    }
    throw typeError(`macro ${name} takes no keyword argument ${repr(first)}`);
  }
}
