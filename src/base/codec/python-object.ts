// An object of users' Python on its way through a template: its attributes as a map, with what the map alone does not say.
import type { PlainDict } from './value.ts';

export interface PythonObject {
  /** `str(object)`. */
  readonly text: string;
  /** Name of its class. */
  readonly type: string;
  /** Names the object in the process that made it. */
  readonly handle: string;
}

const about = Symbol('object of Python');

/** Everything that does not know of such objects sees the map. */
export function asPythonObject(attributes: PlainDict, object: PythonObject): PlainDict {
  return Object.defineProperty(attributes, about, { value: object });
}

export function pythonObjectOf(value: object): PythonObject | undefined {
  return (value as { [about]?: PythonObject })[about];
}
