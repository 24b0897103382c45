// Which type a plain scalar has: PyYAML's patterns, which are narrower than YAML 1.1.

export const tags = {
  null: 'tag:yaml.org,2002:null',
  bool: 'tag:yaml.org,2002:bool',
  int: 'tag:yaml.org,2002:int',
  float: 'tag:yaml.org,2002:float',
  str: 'tag:yaml.org,2002:str',
  binary: 'tag:yaml.org,2002:binary',
  timestamp: 'tag:yaml.org,2002:timestamp',
  merge: 'tag:yaml.org,2002:merge',
  value: 'tag:yaml.org,2002:value',
  yaml: 'tag:yaml.org,2002:yaml',
  seq: 'tag:yaml.org,2002:seq',
  map: 'tag:yaml.org,2002:map',
  omap: 'tag:yaml.org,2002:omap',
  pairs: 'tag:yaml.org,2002:pairs',
  set: 'tag:yaml.org,2002:set',
  pythonUnicode: 'tag:yaml.org,2002:python/unicode',
} as const;

// Python's `$` also matches before a final line break; only `! "…"` can contain one here.
const patterns = {
  bool: /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)\n?$/,
  float:
    /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\n?$/,
  int: /^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)\n?$/,
  merge: /^<<\n?$/,
  null: /^(?:~|null|Null|NULL|)\n?$/,
  timestamp:
    /^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)\n?$/,
  value: /^=\n?$/,
  yaml: /^[!&*]\n?$/,
} as const;

type Rule = readonly [tag: string, pattern: RegExp];
const rule = (name: keyof typeof patterns): Rule => [tags[name], patterns[name]];

/** Rules by first character; the order within a row is the order PyYAML tries them. */
const rules: (readonly Rule[] | undefined)[] = [];
function addRules(characters: string, ...names: (keyof typeof patterns)[]): void {
  for (const char of characters) rules[char.charCodeAt(0)] = names.map(rule);
}
addRules('yYtTfFoO', 'bool');
addRules('nN', 'bool', 'null');
addRules('0123456789', 'float', 'int', 'timestamp');
addRules('-+', 'float', 'int');
addRules('.', 'float');
addRules('<', 'merge');
addRules('~', 'null');
addRules('=', 'value');
addRules('!&*', 'yaml');

/** The tag of a plain scalar. */
export function resolveScalar(text: string): string {
  if (text === '') return tags.null;
  const row = rules[text.charCodeAt(0)];
  if (row === undefined) return tags.str;
  for (const [tag, pattern] of row) if (pattern.test(text)) return tag;
  return tags.str;
}
