// YAML whose values may be joined (`!aggregate`) or reset (`!reset`) instead of replaced.
import { type Dict, dictHas, type Value } from '../../../base/codec/value.ts';
import { composeSingle } from '../../../base/codec/yaml/composer.ts';
import { constructScalar } from '../../../base/codec/yaml/construct-scalar.ts';
import { DictBuilder } from '../../../base/codec/yaml/dict-builder.ts';
import { flattenMerges } from '../../../base/codec/yaml/merge.ts';
import {
  type CollectionNode,
  kindName,
  mappingKind,
  reprNodeValue,
  ScalarNode,
  scalarKind,
  sequenceKind,
  type YamlNode,
} from '../../../base/codec/yaml/nodes.ts';
import { EventParser } from '../../../base/codec/yaml/parser.ts';
import { resolveScalar, tags } from '../../../base/codec/yaml/resolver.ts';
import { Scanner } from '../../../base/codec/yaml/scanner.ts';
import { YamlSource } from '../../../base/codec/yaml/source.ts';
import { pyDictGet } from '../../../base/util/py-equals.ts';
import { aggregate, markAggregate } from '../aggregation.ts';

const limits = { maxDepth: 500, maxExpansion: 1_000_000 };

class YamlexReader {
  readonly #source: YamlSource;

  constructor(text: string) {
    this.#source = new YamlSource(text, '<file>', 'render.failed');
  }

  read(): Value {
    this.#source.checkCharacters();
    const { root, cycleAt } = composeSingle(new EventParser(this.#source, new Scanner(this.#source)), limits);
    if (root === undefined) return null;
    if (cycleAt !== undefined) this.#source.fail('recursive', 'found unconstructable recursive node', cycleAt);
    // The document itself is always joined.
    return this.#aggregated(root);
  }

  #value(node: YamlNode): Value {
    if (node.tag === '!aggregate') return this.#aggregated(node);
    if (node.tag === '!reset') return this.#untagged(node);
    if (node.kind === scalarKind) return constructScalar(node, { source: this.#source, keepFloats: true });
    if (node.kind === sequenceKind && node.tag === tags.seq) return node.items.map((item) => this.#value(item));
    if (node.kind === mappingKind && node.tag === tags.map) return this.#plainMap(node);
    if (node.kind === mappingKind && node.tag === tags.omap) return this.#joinedMap(node);
    return constructScalar(node, { source: this.#source, keepFloats: true });
  }

  /** The value of a node without its own tag; mappings join the values of equal keys. */
  #untagged(node: YamlNode): Value {
    if (node.kind === scalarKind) return this.#value(new ScalarNode(resolveScalar(node.text), node.text, node.start));
    return node.kind === mappingKind ? this.#joinedMap(node) : node.items.map((item) => this.#value(item));
  }

  #aggregated(node: YamlNode): Value {
    const value = this.#untagged(node);
    if (value === null) return markAggregate([]);
    if (node.kind !== scalarKind) return markAggregate(value as Dict | Value[]);
    return markAggregate([value]);
  }

  /** As PyYAML does: of equal keys the last one counts. */
  #plainMap(node: CollectionNode): Dict {
    flattenMerges(node, this.#source);
    const builder = new DictBuilder(null);
    for (let i = 0; i < node.items.length; i += 2) {
      builder.add(this.#key(node, node.items[i] as YamlNode), this.#value(node.items[i + 1] as YamlNode));
    }
    return builder.dict;
  }

  #joinedMap(node: CollectionNode): Dict {
    flattenMerges(node, this.#source);
    const builder = new DictBuilder(null);
    for (let i = 0; i < node.items.length; i += 2) {
      const keyNode = node.items[i] as YamlNode;
      const valueNode = node.items[i + 1] as YamlNode;
      const key = this.#key(node, keyNode);
      // A mark on the key applies to the value.
      const value = keyNode.tag === '!aggregate' ? this.#aggregated(valueNode) : this.#value(valueNode);
      const stored = builder.storedKey(key);
      const old = dictHas(builder.dict, stored) ? pyDictGet(builder.dict, stored) : undefined;
      builder.add(key, old === undefined || keyNode.tag === '!reset' ? value : aggregate(old, value));
    }
    return builder.dict;
  }

  #key(node: CollectionNode, keyNode: YamlNode): Value {
    if (keyNode.kind !== scalarKind) {
      const problem = `found unacceptable key ${reprNodeValue(keyNode)} (${kindName(keyNode)})`;
      return this.#source.fail('ConstructorError', problem, keyNode.start, 'while constructing a mapping', node.start);
    }
    const own = keyNode.tag === '!reset' || keyNode.tag === '!aggregate';
    return this.#value(own ? new ScalarNode(resolveScalar(keyNode.text), keyNode.text, keyNode.start) : keyNode);
  }
}

/** The data of a text, with the parts to be joined marked. */
export const loadYamlex = (text: string): Value => new YamlexReader(text).read();
