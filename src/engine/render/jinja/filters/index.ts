// All filters of Jinja itself; Salt replaces a few of them (`max`, `min`, `tojson`, `unique`).
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { pformat } from '../runtime/pprint.ts';
import { numberFilters } from './numbers.ts';
import { selectFilters } from './select.ts';
import { sequenceFilters } from './sequences.ts';
import { textFilters } from './text.ts';
import { webFilters } from './web.ts';

const printFilters = tableOf({ pprint: define('do_pprint', 'value', (_rt, value) => pformat(value!)) });

export const jinjaFilters: FunctionTable = new Map([
  ...textFilters,
  ...numberFilters,
  ...sequenceFilters,
  ...selectFilters,
  ...webFilters,
  ...printFilters,
]);
