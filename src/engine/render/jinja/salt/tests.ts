// Tests Salt adds.
import type { FunctionTable } from '../runtime/define.ts';
export const saltTests: FunctionTable = new Map();
