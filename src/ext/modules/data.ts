// Execution module `data`: a small key-value store on the minion's disk.
import {
  type Dict,
  defineModule,
  dictEntries,
  dictGet,
  dictHas,
  fn,
  isDict,
  type ModuleContext,
  newDict,
  p,
  type Value,
} from 'halite/sdk';
import { dictDelete, dictSet } from './shared/data.ts';
import { readStore, writeStore } from './shared/datastore.ts';

const key = p.any({ doc: 'the key, of any kind' });
const value = p.any({ doc: 'the value, of any kind' });
const missing = p.any({ default: null, doc: 'when there is none' });

function change(ctx: ModuleContext, work: (store: Dict) => void): void {
  const store = readStore(ctx.opts);
  work(store);
  writeStore(ctx.opts, store);
}

export default defineModule({
  name: 'data',
  doc: "Values in the minion's own store.",
  reads: ['load', 'items', 'keys', 'values', 'has_key', 'get'],
  functions: {
    load: fn({
      doc: 'Everything in the store.',
      examples: ["salt '*' data.load"],
      run: (_, ctx) => readStore(ctx.opts),
    }),
    items: fn({
      doc: 'Everything in the store.',
      examples: ["salt '*' data.items"],
      run: (_, ctx) => readStore(ctx.opts),
    }),
    keys: fn({
      doc: 'The keys of the store.',
      examples: ["salt '*' data.keys"],
      run: (_, ctx) => dictEntries(readStore(ctx.opts)).map(([name]) => name),
    }),
    values: fn({
      doc: 'The values of the store.',
      examples: ["salt '*' data.values"],
      run: (_, ctx) => dictEntries(readStore(ctx.opts)).map(([, kept]) => kept),
    }),
    has_key: fn({
      doc: 'Whether there is a key.',
      examples: ["salt '*' data.has_key <key>"],
      params: { key },
      run: (args, ctx) => dictHas(readStore(ctx.opts), args.key as string),
    }),
    get: fn({
      doc: 'One value, or those of a list of keys.',
      examples: ["salt '*' data.get <key>"],
      params: { key, default: missing },
      run(args, ctx): Value {
        const store = readStore(ctx.opts);
        if (Array.isArray(args.key)) return args.key.map((name) => dictGet(store, name as string) ?? args.default);
        return dictGet(store, args.key as string) ?? args.default;
      },
    }),
    update: fn({
      doc: 'Stores a value.',
      examples: ["salt '*' data.update <key> <value>"],
      params: { key, value },
      run(args, ctx) {
        change(ctx, (store) => dictSet(store, args.key, args.value));
        return true;
      },
    }),
    cas: fn({
      doc: 'Stores a value if the old one has not changed; returns whether it did.',
      examples: ["salt '*' data.cas <key> <value> <old_value>"],
      params: { key, value, old_value: p.any({ doc: 'the expected old value' }) },
      run(args, ctx) {
        const store = readStore(ctx.opts);
        if (!dictHas(store, args.key as string) || dictGet(store, args.key as string) !== args.old_value) return false;
        change(ctx, (fresh) => dictSet(fresh, args.key, args.value));
        return true;
      },
    }),
    pop: fn({
      doc: 'Removes a value from the store.',
      examples: ["salt '*' data.pop <key>"],
      params: { key, default: missing },
      run(args, ctx) {
        const store = readStore(ctx.opts);
        const taken = dictGet(store, args.key as string) ?? args.default;
        change(ctx, (fresh) => dictDelete(fresh, args.key));
        return taken;
      },
    }),
    dump: fn({
      doc: 'Replaces all data.',
      examples: ["salt '*' data.dump '{eggs: spam}'"],
      params: { new_data: p.oneOf(['dict', 'list', 'string'], { doc: 'a map' }) },
      run({ new_data }, ctx) {
        if (!isDict(new_data)) return false;
        writeStore(ctx.opts, new_data);
        return true;
      },
    }),
    clear: fn({
      doc: 'Empties the store.',
      examples: ["salt '*' data.clear"],
      run(_, ctx) {
        writeStore(ctx.opts, newDict());
        return true;
      },
    }),
  },
});
