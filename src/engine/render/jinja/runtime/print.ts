// str() and repr() of every value.
import { floatRepr, intRepr } from './number.ts';
import { reprBytes, reprText } from './text.ts';
import { PyFloat, PyObject, type PyValue } from './value.ts';

const active: unknown[] = [];

/** Runs `print` unless the container is already being printed, as Python guards against cycles. */
export function guardedRepr(container: object, cycle: string, print: () => string): string {
  if (active.includes(container)) return cycle;
  active.push(container);
  try {
    return print();
  } finally {
    active.pop();
  }
}

export function repr(value: PyValue): string {
  return typeof value === 'string' ? reprText(value) : value instanceof PyObject ? value.repr() : str(value);
}

export function str(value: PyValue): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return Number.isInteger(value) ? String(value) : floatRepr(value);
    case 'boolean':
      return value ? 'True' : 'False';
    case 'bigint':
      return intRepr(value);
    default:
  }
  if (value === null) return 'None';
  if (Array.isArray(value)) return guardedRepr(value, '[...]', () => `[${value.map(repr).join(', ')}]`);
  if (value instanceof PyObject) return value.str();
  if (value instanceof PyFloat) return floatRepr(value.value);
  return reprBytes(value);
}
