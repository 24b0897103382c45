// All filters Salt adds.
import type { FunctionTable } from '../runtime/define.ts';
export const saltFilters: FunctionTable = new Map();
