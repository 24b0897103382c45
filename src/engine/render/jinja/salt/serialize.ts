// Filters of Salt's serializer extension: yaml, json, xml, python, load_* and tojson.
import { loadJson } from '../../../../base/codec/json/index.ts';
import type { Value } from '../../../../base/codec/value.ts';
import { dictOf } from '../../../../base/codec/value.ts';
import { dumpYaml, loadYaml, markOrdered, setOf, tupleOf, YamlError } from '../../../../base/codec/yaml/index.ts';
import { PyError, runtimeError, typeError } from '../errors.ts';
import { type FunctionTable, tableOf } from '../runtime/define.ts';
import { PyDict } from '../runtime/dict.ts';
import { decodeBytes } from '../runtime/encoding.ts';
import { Bridge } from '../runtime/host.ts';
import { truth } from '../runtime/iterate.ts';
import { Markup, textOf } from '../runtime/markup.ts';
import { TemplateModule } from '../runtime/objects.ts';
import { pformat } from '../runtime/pprint.ts';
import { str } from '../runtime/print.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { PySet } from '../runtime/set.ts';
import { trim } from '../runtime/text.ts';
import { noAttribute, Undefined } from '../runtime/undefined.ts';
import { PyObject, type PyValue } from '../runtime/value.ts';
import { dumpsJson, indentText } from './json.ts';
import { defineCareful, defineCarefulBound } from './strict.ts';
import { formatXml } from './xml.ts';

/** Data for the YAML dumper; it writes what it does not know (Markup, views, functions) as NULL. */
function forYaml(value: PyValue, known: Map<object, Value>): Value {
  if (value === null || typeof value !== 'object') return value;
  const seen = known.get(value);
  if (seen !== undefined) return seen;
  if (Array.isArray(value)) {
    const list: Value[] = [];
    known.set(value, list);
    for (const item of value) list.push(forYaml(item, known));
    return list;
  }
  if (!(value instanceof PyObject)) return value;
  let made: Value;
  if (value instanceof PyDict) {
    const dict = dictOf(
      [...value.entries()].map(([key, item]) => [forYaml(key, known), forYaml(item, known)] as const),
    );
    made = value.ordered ? markOrdered(dict) : dict;
  } else if (value instanceof PyTuple) made = tupleOf(value.items.map((item) => forYaml(item, known)));
  else if (value instanceof PySet) made = setOf(value.toArray().map((item) => forYaml(item, known)));
  else return undefined as unknown as Value;
  known.set(value, made);
  return made;
}

function flowStyle(value: PyValue): boolean | null {
  return value === null ? null : truth(value);
}

/** The text of the `yaml` filter. */
function yamlText(value: PyValue, flow: PyValue): string {
  const text = trim(dumpYaml(forYaml(value, new Map()), { flow: flowStyle(flow) }));
  return text.endsWith('\n...') ? text.slice(0, -4) : text;
}

function sourceText(value: PyValue): string | undefined {
  if (value instanceof TemplateModule) return value.text;
  return value instanceof Uint8Array ? decodeBytes(value, 'utf-8') : textOf(value);
}

function loadYamlFilter(value: PyValue): PyValue {
  const text = sourceText(value);
  if (value instanceof Undefined) value.fail();
  // The reference's parser takes exact text only, not the marked text of `yaml` or `json`.
  if (text === undefined || value instanceof Markup) throw typeError('a string or stream input is required');
  try {
    return new Bridge(true).in(loadYaml(text, { floats: 'keep' }));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    if (error.kind === 'ValueError' || error.kind === 'IndexError' || error.kind === 'KeyError') {
      throw new PyError(error.kind, error.problem);
    }
    if (error.kind === 'AttributeError') throw runtimeError(`Unable to load yaml from ${text}`);
    if (error.kind === 'ReaderError') throw runtimeError(`Encountered error loading yaml: ${error.message}`);
    throw runtimeError(`Encountered error loading yaml: ${error.problem}\n${error.excerpt}`);
  }
}

function loadJsonFilter(value: PyValue): PyValue {
  const refuse = (): never => {
    throw runtimeError(`Unable to load json from ${str(value)}`);
  };
  const text = sourceText(value);
  if (text === undefined) return refuse();
  let loaded: Value;
  try {
    loaded = loadJson(text);
  } catch {
    return refuse();
  }
  return new Bridge().in(loaded);
}

function jsonText(value: PyValue, sortKeys: PyValue, indent: PyValue): Markup {
  const step = indentText(indent);
  const options = {
    indent: step,
    sortKeys: truth(sortKeys),
    ensureAscii: false,
    itemSeparator: step === undefined ? ', ' : ',',
    keySeparator: ': ',
  };
  return new Markup(trim(dumpsJson(value, options)));
}

const htmlUnsafe: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026', "'": '\\u0027' };

/** `tojson` passes further options on to json.dumps. */
function tojson(value: PyValue, indent: PyValue, options: ReadonlyMap<string, PyValue>): string {
  let separators: readonly PyValue[] | undefined;
  for (const [name, option] of options) {
    if (name === 'separators')
      separators = option instanceof PyTuple ? option.items : Array.isArray(option) ? option : undefined;
    else if (name !== 'sort_keys' && name !== 'ensure_ascii' && name !== 'indent') {
      throw typeError(`JSONEncoder.__init__() got an unexpected keyword argument '${name}'`);
    }
  }
  const flag = (name: string, fallback: boolean): boolean => {
    const given = options.get(name);
    return given === undefined ? fallback : truth(given);
  };
  const step = indentText(indent);
  const text = dumpsJson(value, {
    indent: step,
    sortKeys: flag('sort_keys', false),
    ensureAscii: flag('ensure_ascii', true),
    itemSeparator: separators === undefined ? (step === undefined ? ', ' : ',') : str(separators[0]!),
    keySeparator: separators === undefined ? ': ' : str(separators[1]!),
  });
  return text.replace(/[<>&']/g, (char) => htmlUnsafe[char]!);
}

function slsParams(value: PyValue, flow: PyValue): Markup {
  if (!(value instanceof PyDict)) {
    throw noAttribute(value, 'items');
  }
  const list = [...value.entries()].map((entry) => PyDict.from([entry]));
  return new Markup(yamlText(list, flow));
}

function loadText(value: PyValue): PyValue {
  return value instanceof TemplateModule ? value.text : value;
}

const own = { implicit: 1 };

export const serializeFilters: FunctionTable = tableOf({
  yaml: defineCareful(
    'SerializerExtension.format_yaml',
    'value, flow_style=True',
    (_rt, value, flow) => new Markup(yamlText(value!, flow!)),
    own,
  ),
  json: defineCareful(
    'SerializerExtension.format_json',
    'value, sort_keys=True, indent=None',
    (_rt, value, sort, indent) => jsonText(value!, sort!, indent!),
    own,
  ),
  xml: defineCareful('SerializerExtension.format_xml', 'value', (_rt, value) => new Markup(formatXml(value!)), own),
  python: defineCareful(
    'SerializerExtension.format_python',
    'value',
    (_rt, value) => new Markup(trim(pformat(value!))),
    own,
  ),
  load_yaml: defineCareful('SerializerExtension.load_yaml', 'value', (_rt, value) => loadYamlFilter(value!), own),
  load_json: defineCareful('SerializerExtension.load_json', 'value', (_rt, value) => loadJsonFilter(value!), own),
  load_text: defineCareful('SerializerExtension.load_text', 'value', (_rt, value) => loadText(value!), own),
  dict_to_sls_yaml_params: defineCareful(
    'SerializerExtension.dict_to_sls_yaml_params',
    'value, flow_style=False',
    (_rt, value, flow) => slsParams(value!, flow!),
    own,
  ),
  tojson: defineCarefulBound('tojson', 'val, indent=None, **options', (_rt, { values, named }) =>
    tojson(values[0]!, values[1]!, named),
  ),
});
