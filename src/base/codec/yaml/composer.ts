// The composer: events to a node graph, with anchors and aliases.
import { E } from './events.ts';
import { CollectionNode, mappingKind, ScalarNode, sequenceKind, type YamlNode } from './nodes.ts';
import type { EventParser } from './parser.ts';
import { resolveScalar, tags } from './resolver.ts';

export interface Composed {
  /** Undefined for an empty stream. */
  readonly root: YamlNode | undefined;
  /** Where an alias points to a collection that contains it. */
  readonly cycleAt: number | undefined;
}

export interface ComposeLimits {
  readonly maxDepth: number;
  /** Number of nodes that aliases may add when they are expanded. */
  readonly maxExpansion: number;
}

/** Composes the only document of a stream. */
export function composeSingle(parser: EventParser, limits: ComposeLimits): Composed {
  return new Composer(parser, limits).single();
}

class Composer {
  readonly #parser: EventParser;
  readonly #limits: ComposeLimits;
  readonly #anchors = new Map<string, YamlNode>();
  /** Anchored collections still being composed: an alias to one would make a cycle. */
  readonly #open = new Set<YamlNode>();
  #cycleAt: number | undefined;
  /** Nodes written, and nodes added by aliases. */
  #nodes = 0;
  #expanded = 0;

  constructor(parser: EventParser, limits: ComposeLimits) {
    this.#parser = parser;
    this.#limits = limits;
  }

  single(): Composed {
    const parser = this.#parser;
    parser.next();
    parser.next();
    let root: YamlNode | undefined;
    // The type is read through a function because `next()` changes it and the compiler cannot see that.
    if (this.#eventType() !== E.streamEnd) {
      parser.next();
      root = this.#compose(1);
      parser.next();
      parser.next();
      if (this.#eventType() !== E.streamEnd) {
        const context = 'expected a single document in the stream';
        parser.source.fail('ComposerError', 'but found another document', parser.start, context, root.start);
      }
    }
    return { root, cycleAt: this.#cycleAt };
  }

  #eventType(): number {
    return this.#parser.type;
  }

  /** The node of the current event. */
  #compose(depth: number): YamlNode {
    const { type, anchor, tag, start } = this.#parser;
    if (type === E.alias) return this.#alias(anchor ?? '', start);
    if (anchor !== undefined) this.#checkAnchor(anchor, start);
    this.#nodes++;
    const isTagged = tag !== undefined && tag !== '!';
    if (type === E.scalar) {
      const text = this.#parser.value;
      const ownTag = isTagged ? tag : this.#parser.plainImplicit ? resolveScalar(text) : tags.str;
      const node = new ScalarNode(ownTag, text, start);
      if (anchor !== undefined) this.#anchors.set(anchor, node);
      return node;
    }
    if (depth > this.#limits.maxDepth) {
      this.#parser.source.fail('limit', `nested deeper than ${this.#limits.maxDepth} levels`, start);
    }
    const isSequence = type === E.sequenceStart;
    const node = isSequence
      ? new CollectionNode(sequenceKind, isTagged ? tag : tags.seq, start)
      : new CollectionNode(mappingKind, isTagged ? tag : tags.map, start);
    const end = isSequence ? E.sequenceEnd : E.mappingEnd;
    if (anchor === undefined) this.#fill(node, end, depth);
    else {
      this.#anchors.set(anchor, node);
      this.#open.add(node);
      this.#fill(node, end, depth);
      this.#open.delete(node);
    }
    return node;
  }

  #fill(node: CollectionNode, end: number, depth: number): void {
    const parser = this.#parser;
    for (parser.next(); this.#eventType() !== end; parser.next()) {
      const child = this.#compose(depth + 1);
      node.items.push(child);
      node.size += child.size;
    }
  }

  #alias(name: string, start: number): YamlNode {
    const node = this.#anchors.get(name);
    if (node === undefined) this.#parser.source.fail('ComposerError', 'found undefined alias', start);
    if (this.#open.has(node)) this.#cycleAt ??= start;
    this.#expanded += node.size;
    if (this.#expanded > this.#limits.maxExpansion + 10 * this.#nodes) {
      this.#parser.source.fail('limit', 'aliases expand to too many values', start);
    }
    return node;
  }

  #checkAnchor(name: string, start: number): void {
    const first = this.#anchors.get(name);
    if (first === undefined) return;
    const context = 'found duplicate anchor; first occurrence';
    this.#parser.source.fail('ComposerError', 'second occurrence', start, context, first.start);
  }
}
