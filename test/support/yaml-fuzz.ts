// Differential fuzzing of the YAML reader: seeded documents, and PyYAML with the loader of Salt's renderer.

import { loadYaml, YamlError } from '../../src/base/codec/yaml/index.ts';
import { type Encoded, encodeValue } from '../../src/base/codec/yaml/testing.ts';
import { askPython, Dice } from './fuzz.ts';

const plain =
  "a|b|key|some words|x y  z|é 盐|😀|true|False|yes|No|on|OFF|y|n|null|~|Null||0|7|-3|+12|0644|010|08|0x1F|0b101|0o17|1_000|12:30:45|190:20:30.15|1.0|-.5|.5|1.|1e3|1.5e+3|1E-2|.inf|-.INF|.nan|2024-01-02|2024-01-02 03:04:05Z|=|<<|a:b|http://x/y?z|a#b|a #c|-x|?x|:x|@x|`x|%x|!x|*a|&b|9007199254740993|123456789012345678901234567890|1.0e400|'|\"|it's|[|]|{|}|,|a,b|--- |...|- |? |: |{{ x }}|{% y %}|\\t|a\\\\b".split(
    '|',
  );
const quoted = [
  "'it''s'",
  "''",
  "'a\\nb'",
  "'two\n  lines'",
  "'para\n\n  graph'",
  '"a\\tb\\n\\x41\\u00e9\\U0001F600"',
  '"esc\\\n  aped"',
  '"fold\n\n   ed "',
  '"bad \\q"',
  '"\\xZZ"',
  '"open',
  "'open",
  '"a" b',
  '"\ttab"',
];
const tags =
  '!!str|!!int|!!float|!!bool|!!null|!!binary|!!timestamp|!!seq|!!map|!!set|!!omap|!!pairs|!!python/unicode|!!python/name:os.system|!x|!|!<tag:yaml.org,2002:str>|!e!x'.split(
    '|',
  );
const keys = [...plain.slice(0, 60), 'a', 'a', 'b', 'key', '<<', '"a"', "'b'", '? a', '&k a', '*a', '!!str 1'];
const blockHeads = ['|', '>', '|-', '>-', '|+', '>+', '|2', '>1-', '|0', '|x', '| # c'];
const noise = [
  '\t',
  ' ',
  '\n',
  ':',
  '-',
  '#',
  '"',
  "'",
  '{',
  ']',
  ',',
  '&a ',
  '*a',
  '!',
  '%',
  '\r\n',
  '\u00a0',
  '\x07',
];
const edges = [
  '---\n',
  '--- ',
  '...\n',
  '%YAML 1.1\n---\n',
  '%TAG !e! tag:x,2000:\n---\n',
  '# note\n',
  '\ufeff',
  '\n\n',
];

/** Builds documents out of random choices; every seed gives one. */
class DocumentMaker {
  readonly #dice: Dice;
  constructor(seed: number) {
    this.#dice = new Dice(seed);
  }

  #properties(): string {
    const d = this.#dice;
    const anchor = d.chance(0.08) ? `&${d.pick(['a', 'b', 'c1'])} ` : '';
    const tag = d.chance(0.06) ? `${d.pick(tags)} ` : '';
    return d.chance(0.5) ? anchor + tag : tag + anchor;
  }

  #scalar(): string {
    const d = this.#dice;
    const kind = d.below(12);
    if (kind < 8) return d.pick(plain);
    if (kind < 10) return d.pick(quoted);
    if (kind < 11) return `*${d.pick(['a', 'b', 'c1'])}`;
    return `${d.pick(plain)} ${d.pick(plain)}`;
  }

  #flow(depth: number): string {
    const d = this.#dice;
    if (depth <= 0 || d.chance(0.4)) return this.#properties() + this.#scalar();
    const gap = (): string => d.pick(['', ' ', ' ', ' ', '\n  ', ' # c\n ']);
    const item = (): string => `${gap()}${this.#flow(depth - 1)}`;
    const pair = (): string =>
      `${gap()}${d.pick(keys)}${d.pick([': ', ': ', ': ', ':', '', ' : '])}${this.#flow(depth - 1)}`;
    const [open, close] = d.chance(0.5) ? ['[', ']'] : ['{', '}'];
    const entries = d.times(4, open === '[' ? (d.chance(0.8) ? item : pair) : pair);
    return `${this.#properties()}${open}${entries.join(',')}${d.chance(0.1) ? ',' : ''}${d.chance(0.05) ? '' : close}`;
  }

  #literal(indent: number): string {
    const d = this.#dice;
    const line = (): string => ' '.repeat(Math.max(0, indent + d.pick([1, 2, 2, 2, 3]))) + d.pick(plain);
    const lines = [line(), ...d.times(3, () => (d.chance(0.2) ? d.pick(['', '   ', '\t']) : line()))];
    return `${this.#properties()}${d.pick(blockHeads)}\n${lines.join('\n')}`;
  }

  /** What may stand after `key:` or `-`, the first line without its indentation. */
  #value(depth: number, indent: number): string {
    const d = this.#dice;
    const kind = d.below(20);
    if (depth > 0 && kind < 9) {
      const deeper = indent + d.pick([2, 2, 2, 2, 1, 4, 0]);
      return `${this.#properties()}\n${this.block(depth - 1, deeper)}`;
    }
    if (kind < 12) return ` ${this.#flow(2)}`;
    if (kind < 14) return ` ${this.#literal(indent)}`;
    if (kind < 15) return ` ${d.pick(plain)}\n${' '.repeat(indent + 2)}${d.pick(plain)}`;
    return `${d.pick([' ', ' ', ' ', '  ', '\t'])}${this.#properties()}${this.#scalar()}${d.chance(0.1) ? ' # c' : ''}`;
  }

  block(depth: number, indent: number): string {
    const d = this.#dice;
    const pad = (): string => (d.chance(0.03) ? d.pick(['\t', ' '.repeat(indent + 1), '']) : ' '.repeat(indent));
    const entry = d.chance(0.35)
      ? (): string => `${pad()}-${this.#value(depth, indent)}`
      : (): string => `${pad()}${d.pick(keys)}:${this.#value(depth, indent)}`;
    return [entry(), ...d.times(3, entry)].join('\n');
  }

  document(): string {
    const d = this.#dice;
    const kind = d.below(10);
    let text =
      kind < 7 ? this.block(d.below(4), 0) : kind < 9 ? this.#flow(3) : `${this.#properties()}${this.#scalar()}`;
    if (d.chance(0.08)) text = d.pick(edges) + text;
    if (d.chance(0.08)) text += `\n${d.pick(edges)}${d.chance(0.3) ? this.#scalar() : ''}`;
    for (let i = d.chance(0.25) ? 1 + d.below(2) : 0; i > 0; i--) {
      const at = d.below(text.length + 1);
      text = text.slice(0, at) + (d.chance(0.5) ? d.pick(noise) : '') + text.slice(d.chance(0.5) ? at : at + 1);
    }
    // Cutting may leave half a character.
    return (text + (d.chance(0.6) ? '\n' : '')).replace(/\p{Surrogate}/gu, '\ufffd');
  }
}

export const yamlDocument = (seed: number): string => new DocumentMaker(seed).document();

/** Sets have no order in Python. */
function settled(data: Encoded): Encoded {
  if (data === null || typeof data !== 'object') return data;
  if (Array.isArray(data)) return data.map(settled);
  const [mark, content] = Object.entries(data)[0] as [string, Encoded];
  const inner = settled(content);
  return { [mark]: mark === '$set' ? (inner as Encoded[]).map((item) => JSON.stringify(item)).sort() : inner };
}

/** What Halite makes of a document, in the words of the reference program. */
export function yamlOutcome(text: string): string {
  try {
    return JSON.stringify(settled(encodeValue(loadYaml(text))));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    if (error.kind === 'recursive') return 'a cycle';
    const { kind, problem, context, line, column, contextLine, contextColumn } = error;
    if (kind === 'ReaderError') return kind;
    if (!kind.endsWith('rError') || kind === 'ValueError') return `${kind} ${problem}`;
    const about = contextLine === undefined ? '' : `${contextLine}:${contextColumn}`;
    return `${kind} ${problem} | ${context ?? ''} | ${line}:${column} | ${about}`;
  }
}

const referenceProgram = `
import sys, json, base64, warnings, yaml
warnings.simplefilter('ignore')
from collections import OrderedDict
from salt.utils.yamlloader import SaltYamlSafeLoader
sys.setrecursionlimit(10000)
class Cycle(Exception): pass
def enc(v, above=()):
    if v is None or isinstance(v, (bool, str)): return v
    if isinstance(v, int): return {'$int': str(v)}
    if isinstance(v, float): return {'$float': repr(v)}
    if isinstance(v, bytes): return {'$bytes': base64.b64encode(v).decode()}
    if id(v) in above: raise Cycle()
    above = above + (id(v),)
    if isinstance(v, tuple): return {'$tuple': [enc(x, above) for x in v]}
    if isinstance(v, (set, frozenset)): return {'$set': sorted(json.dumps(enc(x, above), separators=(',', ':'), ensure_ascii=False) for x in v)}
    if isinstance(v, list): return [enc(x, above) for x in v]
    return {'$map': [[enc(k, above), enc(x, above)] for k, x in v.items()]}
place = lambda mark: '' if mark is None else '%d:%d' % (mark.line + 1, mark.column + 1)
def answer(text):
    try:
        loader = SaltYamlSafeLoader(text, dictclass=OrderedDict)
        try: value = loader.get_single_data()
        finally: loader.dispose()
        return json.dumps(enc(value), separators=(',', ':'), ensure_ascii=False)
    except Cycle: return 'a cycle'
    except yaml.reader.ReaderError: return 'ReaderError'
    except yaml.MarkedYAMLError as exc:
        return '%s %s | %s | %s | %s' % (type(exc).__name__, exc.problem, exc.context or '', place(exc.problem_mark), place(exc.context_mark))
    except Exception as exc: return '%s %s' % (type(exc).__name__, exc)
for line in sys.stdin: print(json.dumps(answer(json.loads(line))))
`;

/** Known: Salt hands out the parser's own nodes for a collection that is tagged as text; Halite refuses it. */
const isListed = (text: string, halite: string): boolean =>
  text.includes('!!python/unicode') && halite.includes('expected a scalar node');

export interface YamlDifference {
  readonly seed: number;
  readonly text: string;
  readonly reference: string;
  readonly halite: string;
}

/** Runs seeds against the reference and gives every document that the two read differently. */
export async function yamlDifferences(python: string, firstSeed: number, count: number): Promise<YamlDifference[]> {
  const texts = Array.from({ length: count }, (_, index) => yamlDocument(firstSeed + index));
  const asked = askPython<string>(python, referenceProgram, texts);
  const ours = texts.map(yamlOutcome);
  const outcomes = await asked;
  if (outcomes.length !== count) throw new Error(`the reference ended after ${outcomes.length} of ${count} documents`);
  return texts.flatMap((text, index) => {
    const [reference, halite] = [outcomes[index]!, ours[index]!];
    return reference === halite || isListed(text, halite) ? [] : [{ seed: firstSeed + index, text, reference, halite }];
  });
}
