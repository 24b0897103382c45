// Execution module `environ`: environment variables of the minion's process.
import { defineModule, dictEntries, fn, isDict, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';

/** The new value, None when unset, False when the value is neither text nor False. */
function setOne(key: string, value: Value, falseUnsets: boolean): Value {
  if (value === false && falseUnsets) {
    delete process.env[key];
    return null;
  }
  const text = value === false ? '' : value;
  if (typeof text !== 'string' || key === '' || key.includes('=') || key.includes('\0') || text.includes('\0'))
    return false;
  process.env[key] = text;
  return text;
}

const key = p.scalar({ doc: 'name of the variable' });
const permanent = p.ignored({ default: false, doc: 'Windows only' });

export default defineModule({
  name: 'environ',
  doc: 'Environment variables of the process that runs the function.',
  reads: ['get', 'has_value', 'item', 'items'],
  functions: {
    get: fn({
      doc: 'The value of a variable, or the default.',
      examples: ["salt '*' environ.get foo", "salt '*' environ.get baz default=False"],
      params: { key, default: p.any({ default: '', doc: 'returned when there is no value; any type' }) },
      run: (args) => (typeof args.key === 'string' ? (process.env[args.key] ?? args.default) : false),
    }),
    has_value: fn({
      doc: 'Whether a variable is set (to that value).',
      examples: ["salt '*' environ.has_value foo"],
      params: { key, value: p.scalar({ default: null }) },
      run(args) {
        const now = typeof args.key === 'string' ? process.env[args.key] : undefined;
        return now !== undefined && (args.value === null || now === args.value);
      },
    }),
    item: fn({
      doc: 'The values of several variables.',
      examples: ["salt '*' environ.item foo", "salt '*' environ.item '[foo, baz]' default=None"],
      params: {
        keys: p.oneOf(['list', 'string']),
        default: p.any({ default: '', doc: 'returned when there is no value; any type' }),
      },
      run(args) {
        const names = Array.isArray(args.keys)
          ? args.keys.map(pyStr)
          : typeof args.keys === 'string'
            ? [args.keys]
            : [];
        return newDict(names.map((name) => [name, process.env[name] ?? args.default]));
      },
    }),
    items: fn({
      doc: 'All variables.',
      examples: ["salt '*' environ.items"],
      run: () => newDict(Object.entries(process.env).map(([name, value]) => [name, value ?? ''])),
    }),
    setval: fn({
      doc: 'Sets a variable of this process.',
      examples: ["salt '*' environ.setval foo bar", "salt '*' environ.setval baz val=False false_unsets=True"],
      params: {
        key,
        val: p.scalar({ nullable: true }),
        false_unsets: p.bool({ default: false, doc: 'False removes the variable instead of emptying it' }),
        permanent,
      },
      run: (args) => setOne(pyStr(args.key), args.val, args.false_unsets),
    }),
    setenv: fn({
      doc: 'Sets several variables of this process.',
      examples: [`salt '*' environ.setenv '{"foo": "bar", "baz": "quux"}'`],
      params: {
        environ: p.oneOf(['dict', 'list', 'string'], { doc: 'dictionary of variables' }),
        false_unsets: p.bool({ default: false }),
        clear_all: p.bool({ default: false, doc: 'also empty (or remove) every other variable' }),
        update_minion: p.bool({ default: false, doc: 'accepted; the daemon’s own environment is not changed' }),
        permanent,
      },
      run(args) {
        if (!isDict(args.environ)) return false;
        const wanted = new Map(dictEntries(args.environ).map(([name, value]) => [pyStr(name), value]));
        const result: PlainDict = newDict();
        if (args.clear_all) {
          for (const name of Object.keys(process.env))
            if (!wanted.has(name)) result[name] = setOne(name, false, args.false_unsets);
        }
        for (const [name, value] of wanted) {
          if (typeof value !== 'string' && value !== false) return false;
          result[name] = setOne(name, value, args.false_unsets);
        }
        return result;
      },
    }),
  },
});
