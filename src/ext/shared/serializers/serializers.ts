// Formats that `slsutil.serialize` and `slsutil.deserialize` know, and those of users.
import {
  asDict,
  asList,
  asNumber,
  commandError,
  type Dict,
  dictEntries,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import {
  dumpJson,
  dumpToml,
  dumpYaml,
  loadJson,
  loadToml,
  loadYaml,
  loadYamlex,
  pack,
  pprintValue,
  unpack,
} from 'halite/sdk/codec';
import { lines } from 'halite/sdk/text';
import { pythonJsonError } from './json-error.ts';
import { dumpPlist, loadPlist } from './plist.ts';

export interface Serializer {
  serialize?(value: Value, options: PlainDict): Value;
  deserialize?(source: Value, options: PlainDict): Value;
}

const textOf = (source: Value): string =>
  source instanceof Uint8Array ? Buffer.from(source).toString('utf8') : pyStr(source);
const number = (value: Value | undefined): number | undefined =>
  value === undefined || value === null ? undefined : asNumber(value);

function separatorsOf(value: Value | undefined): [string, string] | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  return [pyStr(value[0] ?? null), pyStr(value[1] ?? null)];
}

const json: Serializer = {
  serialize: (value, options) =>
    dumpJson(value, {
      ensureAscii: options['ensure_ascii'] === true,
      indent: number(options['indent']),
      sortKeys: options['sort_keys'] === true,
      separators: separatorsOf(options['separators']),
    }),
  deserialize(source) {
    const text = textOf(source);
    try {
      return loadJson(text);
    } catch (error) {
      const fault = pythonJsonError(text);
      throw fault ? pythonError('DeserializationError', fault.message) : error;
    }
  },
};

/** Whether YAML writes a value in lines of its own. */
function isBlock(value: Value, flow: Value | undefined): boolean {
  if (flow === true) return false;
  const items = isDict(value) ? dictEntries(value).map(([, item]) => item) : (asList(value) ?? []);
  return flow === false ? items.length > 0 : items.some((item) => isDict(item) || Array.isArray(item));
}

const yaml: Serializer = {
  serialize(value, options) {
    const flow = options['default_flow_style'];
    const text = dumpYaml(value, {
      flow: typeof flow === 'boolean' ? flow : null,
      indent: number(options['indent']),
      sortKeys: options['sort_keys'] !== false,
      width: number(options['width']),
      allowUnicode: options['allow_unicode'] === true,
    });
    const bare = text.replace(/\n\.\.\.\n$/, '').replace(/\n$/, '');
    if (options['explicit_start'] !== true) return bare;
    return isBlock(value, flow) ? `---\n${bare}` : `--- ${bare}`;
  },
  // The last of several equal keys is used here, unlike in state files.
  deserialize: (source) => loadYaml(textOf(source), { duplicates: 'last' }),
};

function iniSection(name: string, section: Dict): string {
  const rows = dictEntries(section).map(
    ([key, value]) => `${pyStr(key).toLowerCase()} = ${pyStr(value).replaceAll('\n', '\n\t')}\n`,
  );
  return `[${name}]\n${rows.join('')}\n`;
}

function parseIni(text: string): PlainDict {
  const found = newDict();
  let section: PlainDict | undefined;
  let last: string | undefined;
  for (const line of lines(text)) {
    if (/^\s*[#;]/.test(line) || line.trim() === '') continue;
    const header = /^\[([^\]]+)\]/.exec(line);
    const pair = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(line);
    if (header) {
      section = newDict();
      found[header[1] as string] = section;
    } else if (section && last !== undefined && /^\s/.test(line))
      section[last] = `${pyStr(section[last] ?? '')}\n${line.trim()}`;
    else if (section && pair) {
      last = (pair[1] as string).trim().toLowerCase();
      section[last] = (pair[2] as string).trim();
    } else throw pythonError('DeserializationError', `File contains no section headers or is not understood: ${line}`);
  }
  return found;
}

const configparser: Serializer = {
  serialize(value) {
    if (!isDict(value)) throw pythonError('SerializationError', 'configparser can only serialize dictionaries');
    const sections = dictEntries(value).map(([name, section]) => [pyStr(name), asDict(section) ?? newDict()] as const);
    const defaults = sections.filter(([name]) => name === 'DEFAULT');
    const others = sections.filter(([name]) => name !== 'DEFAULT');
    return [...defaults, ...others].map(([name, section]) => iniSection(name, section)).join('');
  },
  deserialize: (source) => parseIni(textOf(source)),
};

const keyvalue: Serializer = {
  serialize(value, options) {
    const separator = pyStr(options['separator'] ?? '=');
    const pairs = isDict(value) ? dictEntries(value) : asList(value);
    if (!pairs) throw pythonError('SerializationError', 'Input validation failed. Iterable required.');
    const rows = pairs.map((pair) => {
      const [key = null, item = null] = asList(pair) ?? [];
      return `${pyStr(key)}${separator}${options['quoting'] ? `"${pyStr(item)}"` : pyStr(item)}`;
    });
    return rows.join(pyStr(options['line_ending'] ?? '\n'));
  },
  deserialize(source, options) {
    const separator = pyStr(options['separator'] ?? '=');
    return newDict(
      lines(textOf(source)).map((line): [string, Value] => {
        const at = line.indexOf(separator);
        if (at < 0) throw pythonError('DeserializationError', 'not enough values to unpack (expected 2, got 1)');
        const value = line.slice(at + separator.length);
        return [line.slice(0, at), options['quoting'] === false ? value.replace(/^(["'])(.*)\1$/s, '$2') : value];
      }),
    );
  },
};

function requireDict(value: Value): Dict {
  if (isDict(value)) return value;
  throw pythonError('SerializationError', 'TOML is written from a map');
}

const serializers: Readonly<Record<string, Serializer>> = {
  json,
  yaml,
  configparser,
  keyvalue,
  yamlex: {
    serialize: (value, options) => yaml.serialize?.(value, options) ?? '',
    deserialize: (source) => loadYamlex(textOf(source)),
  },
  toml: {
    serialize: (value) => dumpToml(requireDict(value)),
    deserialize: (source) => loadToml(textOf(source)),
  },
  plist: { serialize: (value) => Buffer.from(dumpPlist(value)), deserialize: (source) => loadPlist(textOf(source)) },
  python: { serialize: (value) => pprintValue(loadJson(dumpJson(value))) },
  msgpack: {
    serialize: (value) => pack(value),
    deserialize: (source) => unpack(source instanceof Uint8Array ? source : Buffer.from(pyStr(source), 'latin1')),
  },
};

/** The serializer and one of its directions, or Salt's message about what is missing. */
export function serializerFor<K extends keyof Serializer>(name: string, direction: K): NonNullable<Serializer[K]> {
  const found = Object.hasOwn(serializers, name) ? serializers[name] : undefined;
  if (!found) throw commandError(`Serializer '${name}' not found.`);
  const run = found[direction];
  if (!run) throw commandError(`Serializer '${name}' does not implement ${direction}.`);
  return run;
}

type Run = (value: Value, options: PlainDict) => Value | Promise<Value>;

/** The same with the serializers of users, which come first: one of a built-in name replaces it. */
export async function anySerializerFor(name: string, direction: keyof Serializer, ctx: ModuleContext): Promise<Run> {
  const own = await ctx.serializer?.(name);
  if (!own) return serializerFor(name, direction);
  const run = own[direction];
  if (!run) throw commandError(`Serializer '${name}' does not implement ${direction}.`);
  return run;
}
