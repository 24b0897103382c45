// External pillar `csv`: a row of a table, found by the minion's id.

import { type Dict, definePillar, dictOf, newDict, p, pyStr, type Value } from 'halite/sdk';
import { readFile } from 'halite/sdk/fs';
import { parseCsv } from './shared/csv.ts';

/** A row like Python's DictReader: missing cells are `restval`, surplus cells are a list under `restkey`. */
function rowOf(names: readonly Value[], cells: readonly string[], restkey: Value, restval: Value): [Value, Value][] {
  const row = names.map((name, at): [Value, Value] => [name, cells[at] ?? restval]);
  if (cells.length > names.length) row.push([restkey, cells.slice(names.length)]);
  return row;
}

async function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`[Errno 2] No such file or directory: '${path}'`) : error;
  });
}

export default definePillar({
  name: 'csvpillar',
  virtualName: 'csv',
  doc: 'Reads a CSV file of the master: the row whose column idkey is the minion’s id. The first row names the columns.',
  params: {
    path: p.path({ doc: 'the file' }),
    idkey: p.string({ default: 'id', doc: 'the column of ids' }),
    namespace: p.string({ default: null, doc: 'key for the row' }),
    fieldnames: p.list({ default: null, doc: 'names of the columns when the file has none' }),
    restkey: p.scalar({ default: null, doc: 'key for cells without a name' }),
    restval: p.any({ default: null, doc: 'value of cells that are missing' }),
    dialect: p.string({ default: 'excel', doc: 'excel or excel-tab' }),
  },
  async compile(args, ctx): Promise<Dict> {
    const rows = parseCsv(await read(args.path), args.dialect === 'excel-tab' ? '\t' : ',');
    const names = args.fieldnames ?? rows.shift() ?? [];
    for (const cells of rows) {
      if (cells.length === 0) continue;
      const row = rowOf(names, cells, args.restkey, args.restval);
      const id = row.find(([name]) => name === args.idkey);
      if (!id) throw new Error(`'${args.idkey}'`);
      if (pyStr(id[1]) !== ctx.minionId) continue;
      const found = dictOf(row);
      return args.namespace ? dictOf([[args.namespace, found]]) : found;
    }
    return newDict();
  },
});
