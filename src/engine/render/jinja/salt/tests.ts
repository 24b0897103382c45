// Tests Salt adds.
import { eq } from '../runtime/compare.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { matchTest } from './regex.ts';

export const saltTests: FunctionTable = tableOf({
  match: matchTest,
  equalto: define('test_equalto', 'value, other', (_rt, value, other) => eq(value!, other!)),
  list: define('is_list', 'value', (_rt, value) => Array.isArray(value)),
});
