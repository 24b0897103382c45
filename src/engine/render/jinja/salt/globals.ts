// Globals Salt adds.
import type { PyValue } from '../runtime/value.ts';
export const saltGlobals: ReadonlyMap<string, PyValue> = new Map();
