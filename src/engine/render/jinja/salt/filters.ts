// All filters Salt adds or replaces.
import type { FunctionTable } from '../runtime/define.ts';
import { dateFilters } from './dates.ts';
import { dictFilters } from './dicts.ts';
import { fileFilters } from './files.ts';
import { hashFilters } from './hashes.ts';
import { itertoolsFilters } from './itertools.ts';
import { listFilters } from './lists.ts';
import { networkFilters } from './network.ts';
import { queryFilters } from './query.ts';
import { regexFilters } from './regex.ts';
import { remoteFilters } from './remote.ts';
import { serializeFilters } from './serialize.ts';
import { stringFilters } from './strings.ts';

export const saltFilters: FunctionTable = new Map([
  ...serializeFilters,
  ...itertoolsFilters,
  ...stringFilters,
  ...listFilters,
  ...dictFilters,
  ...regexFilters,
  ...hashFilters,
  ...dateFilters,
  ...fileFilters,
  ...networkFilters,
  ...queryFilters,
  ...remoteFilters,
]);
