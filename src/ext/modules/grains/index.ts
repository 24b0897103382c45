// Execution module `grains`: reads and sets grains of this minion.
import { randomInt } from 'node:crypto';
import {
  type ArgsOf,
  type Dict,
  defineModule,
  dictEntries,
  dictGet,
  dictKeys,
  dictOf,
  fn,
  isDict,
  isTrue,
  type ModuleContext,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { compareText, dumpJson, loadJson, YamlError } from 'halite/sdk/codec';
import { deepCopy, defaultDelimiter, traverse } from 'halite/sdk/data';
import { dictDelete, dictSet, filterBy, splitLast, valuesAt } from '../shared/data.ts';
import { grainsPath, readGrainsFile, writeGrainsFile } from '../shared/grains-file.ts';

/** Grains that are hidden when grains are shown to others. */
const sanitizers: Readonly<Record<string, (value: Value) => Value>> = {
  serialnumber: (value) => {
    const text = pyStr(value);
    const kept = Math.floor(text.length * 0.75);
    return text.slice(0, kept) + 'X'.repeat(text.length - kept);
  },
  domain: () => 'DOMAINNAME',
  fqdn: () => 'MINION.DOMAINNAME',
  id: () => 'MINION.DOMAINNAME',
  host: () => 'MINION',
  localhost: () => 'MINION',
  nodename: () => 'MINION',
};

function sanitized(grains: Dict): Dict {
  return dictOf(
    dictEntries(grains).map(([key, value]): [Value, Value] => {
      const clean = typeof key === 'string' && Object.hasOwn(sanitizers, key) ? sanitizers[key] : undefined;
      return [key, clean ? clean(value) : value];
    }),
  );
}

const copyAt = (ctx: ModuleContext, key: string, delimiter: string): Value | undefined => {
  const found = traverse(ctx.grains, key, delimiter);
  return found === undefined ? undefined : deepCopy(found);
};

/** Writes grains into the minion's file and refreshes the grains. Returns a text when that failed. */
async function setValues(
  values: Dict,
  destructive: boolean,
  refreshPillar: boolean,
  ctx: ModuleContext,
): Promise<Value> {
  const path = grainsPath(ctx.opts);
  if (!path) throw pythonError('KeyError', "'conf_file'");
  let stored: Dict;
  try {
    stored = readGrainsFile(path);
  } catch (error) {
    if (error instanceof YamlError) return `Unable to read existing grains file: ${messageOf(error)}`;
    throw error;
  }
  for (const [key, value] of dictEntries(values)) {
    for (const grains of [stored, ctx.grains]) {
      if (value === null && destructive) dictDelete(grains, key);
      else dictSet(grains, key, value);
    }
  }
  try {
    writeGrainsFile(path, stored);
  } catch (error) {
    ctx.log.error('Unable to write to grains file. Check permissions.', { path, problem: messageOf(error) });
  }
  if (ctx.opts['local'] !== true) {
    await ctx.minion.refreshGrains();
    if (refreshPillar) await ctx.minion.refreshPillar();
  }
  return values;
}

const setOne = (key: string, value: Value, ctx: ModuleContext): Promise<Value> =>
  setValues(dictOf([[key, value]]), false, true, ctx);

/** Puts a changed list back below the grain that holds it, level by level. */
function rebuild(ctx: ModuleContext, path: string, delimiter: string, list: Value): [string, Value] {
  let key = path;
  let value = list;
  while (key.includes(delimiter)) {
    const [parent, rest] = splitLast(key, delimiter);
    const above = copyAt(ctx, parent, delimiter) ?? newDict();
    if (isDict(above)) dictSet(above, rest, value);
    key = parent;
    value = above;
  }
  return [key, value];
}

const typeOf = (value: Value | undefined): 'none' | 'simple' | 'complex' =>
  value === undefined ? 'none' : Array.isArray(value) || isDict(value) ? 'complex' : 'simple';

const failure = (comment: string): PlainDict =>
  newDict([
    ['comment', comment],
    ['changes', newDict()],
    ['result', false],
  ]);

type SetRequest = ArgsOf<typeof setRequestParams>;

type Placed = { readonly value: Value } | { readonly refused: string };

/** One level of a path: what holds the new value, or the text of a refusal. */
function placeInto(above: Value, rest: string, value: Value, key: string, request: SetRequest): Placed {
  if (isDict(above)) {
    if (value === null && request.destructive) dictDelete(above, rest);
    else dictSet(above, rest, value);
    return { value: above };
  }
  if (Array.isArray(above)) {
    let updated = false;
    for (const [index, item] of above.entries()) {
      if (item === rest) above[index] = dictOf([[rest, value]]);
      else if (isDict(item) && dictGet(item, rest) !== undefined) dictSet(item, rest, value);
      else continue;
      updated = true;
    }
    if (!updated) above.push(dictOf([[rest, value]]));
    return { value: above };
  }
  if (above === rest || request.force) return { value: dictOf([[rest, value]]) };
  return {
    refused: `The key '${key}' value is '${pyStr(above)}', which is different from the provided key '${rest}'. Use 'force=True' to overwrite.`,
  };
}

async function setPath(request: SetRequest, ctx: ModuleContext): Promise<PlainDict> {
  const { val, force, destructive, delimiter } = request;
  const existing = traverse(ctx.grains, request.key, delimiter);
  const unchanged = existing !== undefined && pyEquals(existing, val) && (val !== null || !destructive);
  if (unchanged)
    return newDict([
      ['comment', 'Grain is already set'],
      ['changes', newDict()],
      ['result', true],
    ]);
  if (existing !== null && !force) {
    if (typeOf(existing) === 'complex') {
      return failure(`The key '${request.key}' exists but is a dict or a list. Use 'force=True' to overwrite.`);
    }
    if (typeOf(val) === 'complex' && existing !== undefined) {
      return failure(
        `The key '${request.key}' exists and the given value is a dict or a list. Use 'force=True' to overwrite.`,
      );
    }
  }
  let key = request.key;
  let value: Value = val;
  while (key.includes(delimiter)) {
    const [parent, rest] = splitLast(key, delimiter);
    const placed = placeInto(copyAt(ctx, parent, delimiter) ?? newDict(), rest, value, parent, request);
    if ('refused' in placed) return failure(placed.refused);
    key = parent;
    value = placed.value;
  }
  const answer = await setValues(dictOf([[key, value]]), destructive, true, ctx);
  if (isDict(answer))
    return newDict([
      ['comment', ''],
      ['changes', answer],
      ['result', true],
    ]);
  return newDict([
    ['comment', answer],
    ['changes', newDict()],
    ['result', false],
  ]);
}

const delimiter = p.string({ default: defaultDelimiter, doc: 'separator of the levels of a key' });
const key = p.string({ doc: 'the grain; levels are separated by colons' });

const getter = (examples: string[]) =>
  fn({
    doc: 'The value of a grain, also of a nested one, or the default.',
    examples,
    params: {
      key,
      default: p.any({ default: '', doc: 'returned when there is no value; any type' }),
      delimiter,
      ordered: p.bool({ default: true, doc: 'accepted; order is always kept' }),
    },
    inline: true,
    run(args, ctx) {
      const found = traverse(ctx.grains, args.key, args.delimiter);
      if (found === undefined) return args.default;
      return args.ordered ? found : loadJson(dumpJson(found));
    },
  });

const reading = {
  get: getter(["salt '*' grains.get pkg:apache", "salt '*' grains.get abc::def|ghi delimiter='|'"]),
  fetch: getter(["salt '*' grains.fetch pkg:apache"]),
  has_value: fn({
    doc: 'Whether a grain exists.',
    examples: ["salt '*' grains.has_value pkg:apache"],
    params: { key },
    inline: true,
    run: (args, ctx) => traverse(ctx.grains, args.key) !== undefined,
  }),
  items: fn({
    doc: 'All grains.',
    examples: ["salt '*' grains.items", "salt '*' grains.items sanitize=True"],
    params: { sanitize: p.isTrue({ default: false, doc: 'hide host names and serial numbers' }) },
    inline: true,
    run: (args, ctx) => (args.sanitize ? sanitized(ctx.grains) : ctx.grains),
  }),
  item: fn({
    doc: 'The values of several grains.',
    examples: [
      "salt '*' grains.item os",
      "salt '*' grains.item os osrelease oscodename",
      "salt '*' grains.item host sanitize=True",
    ],
    params: { args: p.rest(), kwargs: p.kwargs({ doc: 'default, delimiter, sanitize' }) },
    inline: true,
    run({ args, kwargs }, ctx) {
      const separator = pyStr(kwargs['delimiter'] ?? defaultDelimiter);
      const fallback = kwargs['default'] ?? '';
      const found = dictOf(
        args.map((name): [Value, Value] => [name, traverse(ctx.grains, pyStr(name), separator) ?? fallback]),
      );
      return isTrue(kwargs['sanitize']) ? sanitized(found) : found;
    },
  }),
  ls: fn({
    doc: 'The names of all grains, sorted.',
    examples: ["salt '*' grains.ls"],
    inline: true,
    run: (_, ctx) => dictKeys(ctx.grains).map(pyStr).sort(compareText),
  }),
  equals: fn({
    doc: 'Whether a grain has a value, compared as text.',
    examples: ["salt '*' grains.equals fqdn <expected_fqdn>", "salt '*' grains.equals systemd:version 219"],
    params: {
      key,
      value: p.any({ doc: 'the value; a list or a dictionary is compared by its Python text, as in Salt' }),
    },
    inline: true,
    run: (args, ctx) => pyStr(args.value) === pyStr(traverse(ctx.grains, args.key) ?? ''),
  }),
  filter_by: fn({
    doc: 'Chooses an entry of a dictionary by the value of a grain; keys may be globs. `base` is merged below and `merge` above it.',
    examples: [`salt '*' grains.filter_by '{Debian: apache2, RedHat: httpd}'`],
    params: {
      lookup_dict: p.dict({ doc: 'grain value → anything' }),
      grain: p.string({ default: 'os_family', doc: 'the grain' }),
      merge: p.any({ default: null, doc: 'dictionary merged over the result' }),
      default: p.string({ default: 'default', doc: 'key to use when nothing matches' }),
      base: p.string({ default: null, doc: 'key of the entry that is merged below the result' }),
    },
    run: (args, ctx) => filterBy(args.lookup_dict, valuesAt(ctx.grains, args.grain), args),
  }),
};

const setRequestParams = {
  key,
  val: p.any({ default: '', doc: 'the value, of any kind' }),
  force: p.bool({ default: false }),
  destructive: p.bool({ default: false }),
  delimiter,
};

const writing = {
  setvals: fn({
    doc: 'Sets several grains and stores them in the grains file.',
    examples: [`salt '*' grains.setvals "{'key1': 'val1', 'key2': 'val2'}"`],
    params: {
      grains: p.dict({ doc: 'dictionary of new values' }),
      destructive: p.bool({ default: false, doc: 'remove grains whose new value is None' }),
      refresh_pillar: p.bool({ default: true, doc: 'compile the pillar again afterwards' }),
    },
    run({ grains, destructive, refresh_pillar }, ctx) {
      if (!isDict(grains)) throw pythonError('SaltException', 'setvals grains must be a dictionary.');
      return setValues(grains, destructive, refresh_pillar, ctx);
    },
  }),
  setval: fn({
    doc: 'Sets a grain and stores it in the grains file.',
    examples: ["salt '*' grains.setval key val", `salt '*' grains.setval key "{'sub-key': 'val', 'sub-key2': 'val2'}"`],
    params: {
      key: p.string(),
      val: p.any({ doc: 'the value, of any kind' }),
      destructive: p.bool({ default: false }),
      refresh_pillar: p.bool({ default: true }),
    },
    run: (args, ctx) => setValues(dictOf([[args.key, args.val]]), args.destructive, args.refresh_pillar, ctx),
  }),
  set: fn({
    doc: 'Sets a grain, also a nested one; a dictionary or list is only replaced with force.',
    examples: ["salt '*' grains.set 'apps:myApp:port' 2209", `salt '*' grains.set 'apps:myApp' '{port: 2209}'`],
    params: setRequestParams,
    run: (args, ctx) => setPath(args, ctx),
  }),
  append: fn({
    doc: 'Adds a value to a grain that is a list.',
    examples: ["salt '*' grains.append key val"],
    params: {
      key,
      val: p.any({ doc: 'the value, of any kind' }),
      convert: p.bool({ default: false, doc: 'convert a single value to a list first' }),
      delimiter,
    },
    run(args, ctx) {
      let list: Value =
        copyAt(ctx, args.key, args.delimiter) ?? (traverse(ctx.grains, args.key, args.delimiter) === null ? null : []);
      if (args.convert && !Array.isArray(list)) list = list === null ? [] : [list];
      if (!Array.isArray(list)) return `The key ${args.key} is not a valid list`;
      if (list.some((item) => pyEquals(item, args.val)))
        return `The val ${pyStr(args.val)} was already in the list ${args.key}`;
      list.push(...(Array.isArray(args.val) ? args.val : [args.val]));
      return setOne(...rebuild(ctx, args.key, args.delimiter, list), ctx);
    },
  }),
  remove: fn({
    doc: 'Removes a value from a grain that is a list.',
    examples: ["salt '*' grains.remove key val"],
    params: { key, val: p.any({ doc: 'the value, of any kind' }), delimiter },
    run(args, ctx) {
      const list = copyAt(ctx, args.key, args.delimiter) ?? [];
      if (!Array.isArray(list)) return `The key ${args.key} is not a valid list`;
      const at = list.findIndex((item) => pyEquals(item, args.val));
      if (at < 0) return `The val ${pyStr(args.val)} was not in the list ${args.key}`;
      list.splice(at, 1);
      return setOne(...rebuild(ctx, args.key, args.delimiter, list), ctx);
    },
  }),
  delkey: fn({
    doc: 'Removes a grain from the grains file.',
    examples: ["salt '*' grains.delkey key"],
    params: { key, force: p.bool({ default: false, doc: 'also when it is a list or dictionary' }) },
    run: (args, ctx) => setPath({ ...args, val: null, destructive: true, delimiter: defaultDelimiter }, ctx),
  }),
  delval: fn({
    doc: 'Sets a grain to None, or removes it with destructive.',
    examples: ["salt '*' grains.delval key"],
    params: { key, destructive: p.bool({ default: false }), force: p.bool({ default: false }) },
    run: (args, ctx) => setPath({ ...args, val: null, delimiter: defaultDelimiter }, ctx),
  }),
  get_or_set_hash: fn({
    doc: 'A random text that is created once and stored as a grain. Not for secrets: grains are visible to the master.',
    examples: ["salt '*' grains.get_or_set_hash 'django:SECRET_KEY' 50"],
    params: {
      name: p.string(),
      length: p.int({ default: 8 }),
      chars: p.string({ default: 'abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)' }),
    },
    async run({ name, length, chars }, ctx) {
      const known = traverse(ctx.grains, name);
      if (known !== undefined && known !== null && known !== '') return known;
      const made = Array.from({ length }, () => chars.charAt(randomInt(chars.length))).join('');
      await setOne(...rebuild(ctx, name, defaultDelimiter, made), ctx);
      return made;
    },
  }),
};

export default defineModule({
  name: 'grains',
  doc: 'Reads and sets grains of this minion.',
  reads: ['get', 'fetch', 'has_value', 'items', 'item', 'ls', 'equals', 'filter_by'],
  functions: { ...reading, ...writing },
});
