// Tells whether a value contains itself.
import { isDict, type Value } from '../value.ts';

export function hasCycle(root: Value): boolean {
  const open = new Set<object>();
  const closed = new Set<object>();
  // Each object is on the stack twice: the second visit closes it.
  const stack: Value[] = [root];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    if (value === null || typeof value !== 'object' || closed.has(value)) continue;
    if (open.has(value)) {
      open.delete(value);
      closed.add(value);
      continue;
    }
    const children = Array.isArray(value) ? value : isDict(value) ? valuesOf(value) : [];
    open.add(value);
    stack.push(value);
    for (const child of children) {
      if (child !== null && typeof child === 'object') {
        if (open.has(child)) return true;
        stack.push(child);
      }
    }
  }
  return false;
}

const valuesOf = (dict: object): Iterable<Value> => (dict instanceof Map ? dict.values() : Object.values(dict));
