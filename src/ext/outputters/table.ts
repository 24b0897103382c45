// Outputter `table`: lists of rows as tables.
import { defineOutputter } from 'halite/sdk';
import { renderTable } from './shared/table-style.ts';

export default defineOutputter({
  name: 'table',
  doc: 'Lists of rows as tables; the out.table.* options change their style.',
  render: (data, options) => renderTable(data, options),
});
