// Undefined values: the result of a lookup that finds nothing; strict ones raise on nearly every use.
import { PyError } from '../errors.ts';
import { repr } from './print.ts';
import { reprText } from './text.ts';
import { type HashKey, objectTypeName, PyObject, type PyValue, typeName } from './value.ts';

export interface UndefinedFacts {
  /** Full message, instead of one built from owner and name. */
  readonly hint?: string;
  /** The value on which the lookup was made; absent for a plain name. */
  readonly owner?: PyValue;
  readonly name?: PyValue;
  /** Python exception raised on use, `UndefinedError` unless given. */
  readonly exception?: string;
}

export class Undefined extends PyObject {
  readonly strict: boolean;
  readonly facts: UndefinedFacts;

  constructor(strict: boolean, facts: UndefinedFacts) {
    super();
    this.strict = strict;
    this.facts = facts;
  }

  typeName(): string {
    return this.strict ? 'StrictUndefined' : 'Undefined';
  }
  override moduleName(): string {
    return 'jinja2.runtime';
  }

  message(): string {
    const { hint, owner, name } = this.facts;
    if (hint) return hint;
    if (owner === undefined) return `${name === undefined ? 'None' : repr(name)} is undefined`;
    const kind = objectTypeName(owner);
    if (typeof name === 'string') return `${reprText(kind)} has no attribute ${repr(name)}`;
    return `${kind} has no element ${name === undefined ? 'None' : repr(name)}`;
  }

  /** Raises the error that this value represents. */
  fail(): never {
    throw new PyError(this.facts.exception ?? 'UndefinedError', this.message());
  }

  override repr(): string {
    return 'Undefined';
  }
  override str(): string {
    if (this.strict) this.fail();
    return '';
  }
  override truth(): boolean {
    if (this.strict) this.fail();
    return false;
  }
  override length(): number {
    if (this.strict) this.fail();
    return 0;
  }
  override iterate(): Iterator<PyValue> {
    if (this.strict) this.fail();
    return [][Symbol.iterator]();
  }
  override equals(other: PyValue): boolean {
    if (this.strict) this.fail();
    return other instanceof Undefined && !other.strict;
  }
  override hashKey(): HashKey {
    if (this.strict) this.fail();
    return Undefined;
  }
  override contains(_key: PyValue): boolean {
    if (this.strict) this.fail();
    return false;
  }
  override subscriptable(): boolean {
    return true;
  }
  override invoke(): never {
    this.fail();
  }
}

/** The error of `value.name` in Python code: an undefined value raises its own. */
export function noAttribute(value: PyValue, name: string): PyError {
  if (value instanceof Undefined) value.fail();
  return new PyError('AttributeError', `'${typeName(value)}' object has no attribute '${name}'`);
}
