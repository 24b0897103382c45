// An object that a function in Python returned: its attributes are those it had then.
import type { PythonObject } from '../../../../base/codec/python-object.ts';
import type { PlainDict } from '../../../../base/codec/value.ts';
import type { Runtime } from './runtime.ts';
import { PyObject, type PyValue } from './value.ts';

export class ForeignObject extends PyObject {
  /** What a function gets that the template passes it to. */
  readonly source: PlainDict;
  readonly #about: PythonObject;

  constructor(source: PlainDict, about: PythonObject) {
    super();
    this.source = source;
    this.#about = about;
  }
  typeName(): string {
    return this.#about.type;
  }
  override str(): string {
    return this.#about.text;
  }
  override repr(): string {
    return this.#about.text;
  }
  override attr(name: string, rt: Runtime): PyValue | undefined {
    return Object.hasOwn(this.source, name) ? rt.bridge.in(this.source[name]) : undefined;
  }
}
