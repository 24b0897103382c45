// Merge keys (`<<`) as Salt flattens them: merged entries come first, and duplicates among them are not removed.
import { type CollectionNode, kindName, mappingKind, scalarKind, sequenceKind, type YamlNode } from './nodes.ts';
import { tags } from './resolver.ts';
import type { YamlSource } from './source.ts';

// A chain of merges this long overflows the stack in Python too.
const maxMergeDepth = 900;
// Lists of merges may double at every level; real documents stay far below this.
const maxMergedItems = 1_000_000;
const context = 'while constructing a mapping';

/** Replaces the merge keys of a mapping by the merged entries. */
export function flattenMerges(node: CollectionNode, source: YamlSource, depth = 0): void {
  let hasMerge = false;
  for (let i = 0; i < node.items.length; i += 2) {
    const key = node.items[i] as YamlNode;
    if (key.tag === tags.merge) hasMerge = true;
    else if (key.tag === tags.value) key.tag = tags.str;
  }
  if (!hasMerge) return;
  if (depth > maxMergeDepth) source.fail('limit', 'merge keys are nested too deeply', node.start);
  const own: YamlNode[] = [];
  const merges: YamlNode[] = [];
  for (let i = 0; i < node.items.length; i += 2) {
    const key = node.items[i] as YamlNode;
    const value = node.items[i + 1] as YamlNode;
    if (key.tag === tags.merge) merges.push(value);
    else own.push(key, value);
  }
  // Removes the merge keys before the merged mappings are read: one of them may be this mapping itself.
  node.items = own;
  const merged: YamlNode[] = [];
  for (const value of merges) collect(node, value, merged, source, depth);
  if (merged.length > 0) node.items = withoutOwn(merged, own).concat(own);
}

function collect(node: CollectionNode, value: YamlNode, merged: YamlNode[], source: YamlSource, depth: number): void {
  const append = (mapping: CollectionNode): void => {
    if (merged.length + mapping.items.length > maxMergedItems) {
      source.fail('limit', 'merge keys expand to too many entries', node.start, context, node.start);
    }
    for (const item of mapping.items) merged.push(item);
  };
  if (value.kind === mappingKind) {
    flattenMerges(value, source, depth + 1);
    append(value);
  } else if (value.kind === sequenceKind) {
    for (const item of value.items) {
      if (item.kind !== mappingKind) {
        const problem = `expected a mapping for merging, but found ${kindName(item)}`;
        source.fail('ConstructorError', problem, item.start, context, node.start);
      }
      flattenMerges(item, source, depth + 1);
    }
    for (let i = value.items.length - 1; i >= 0; i--) append(value.items[i] as CollectionNode);
  } else {
    const problem = `expected a mapping or list of mappings for merging, but found ${kindName(value)}`;
    source.fail('ConstructorError', problem, value.start, context, node.start);
  }
}

/** Drops merged entries whose key is written in the mapping itself, comparing the text of the keys. */
function withoutOwn(merged: readonly YamlNode[], own: readonly YamlNode[]): YamlNode[] {
  const texts = new Set<string>();
  for (let i = 0; i < own.length; i += 2) {
    const key = own[i] as YamlNode;
    if (key.kind === scalarKind) texts.add(key.text);
  }
  const kept: YamlNode[] = [];
  for (let i = 0; i < merged.length; i += 2) {
    const key = merged[i] as YamlNode;
    if (key.kind !== scalarKind || !texts.has(key.text)) kept.push(key, merged[i + 1] as YamlNode);
  }
  return kept;
}
