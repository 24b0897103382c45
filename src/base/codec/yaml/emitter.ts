// The emitter: nodes to text, formatted as by libyaml.
import { analyzeScalar, type ScalarAnalysis } from './analyze.ts';
import { writeDoubleQuoted, writeLiteral, writePlain, writeSingleQuoted } from './emit-scalar.ts';
import type { DumpNode } from './represent.ts';
import { tags } from './resolver.ts';
import type { Writer } from './writer.ts';

/** The position of a node: it determines the quoting and whether a list is indented. */
interface Spot {
  readonly inMapping: boolean;
  readonly simpleKey: boolean;
}

const rootSpot: Spot = { inMapping: false, simpleKey: false };
const itemSpot: Spot = { inMapping: false, simpleKey: false };
const valueSpot: Spot = { inMapping: true, simpleKey: false };
const keySpot: Spot = { inMapping: true, simpleKey: true };

const maxKeyBytes = 128;

/** Writes a document. */
export function emitDocument(root: DumpNode, w: Writer): void {
  emitNode(w, root, rootSpot);
  w.indent();
}

function emitNode(w: Writer, node: DumpNode, spot: Spot): void {
  if (node.written && node.anchor !== undefined) {
    writeAnchor(w, '*', node.anchor);
    if (spot.simpleKey) w.put(' ');
    return;
  }
  node.written = true;
  if (node.kind === 'scalar') {
    emitScalar(w, node, spot);
    return;
  }
  if (node.anchor !== undefined) writeAnchor(w, '&', node.anchor);
  writeTag(w, shownTag(node));
  const flow = w.flowLevel > 0 || node.flow || node.items.length === 0;
  if (node.kind === 'sequence') {
    if (flow) emitFlowSequence(w, node);
    else emitBlockSequence(w, node, spot.inMapping && !w.indention);
  } else if (flow) emitFlowMapping(w, node);
  else emitBlockMapping(w, node);
}

function writeAnchor(w: Writer, mark: '&' | '*', anchor: string): void {
  w.indicator(mark, true, false, false);
  w.put(anchor);
  w.whitespace = false;
  w.indention = false;
}

/** The tag to write, in short form; undefined when the content implies it. */
function shownTag(node: DumpNode): string | undefined {
  if (node.kind === 'sequence') return undefined;
  if (node.kind === 'mapping') return node.tag === tags.map ? undefined : shortTag(node.tag);
  return node.tag === tags.str || node.plainImplicit ? undefined : shortTag(node.tag);
}

const shortTag = (tag: string): string => tag.replace('tag:yaml.org,2002:', '!!');

function writeTag(w: Writer, tag: string | undefined): void {
  if (tag === undefined) return;
  if (!w.whitespace) w.put(' ');
  w.put(tag);
  w.whitespace = false;
  w.indention = false;
}

function emitFlowSequence(w: Writer, node: DumpNode): void {
  w.indicator('[', true, true, false);
  w.flowLevel++;
  w.deeper(true, false, () => {
    for (const [i, item] of node.items.entries()) {
      if (i > 0) w.indicator(',', false, false, false);
      if (w.column > w.width) w.indent();
      emitNode(w, item, itemSpot);
    }
  });
  w.flowLevel--;
  w.indicator(']', false, false, false);
}

function emitFlowMapping(w: Writer, node: DumpNode): void {
  w.indicator('{', true, true, false);
  w.flowLevel++;
  w.deeper(true, false, () => {
    for (let i = 0; i < node.items.length; i += 2) {
      const key = node.items[i] as DumpNode;
      if (i > 0) w.indicator(',', false, false, false);
      if (w.column > w.width) w.indent();
      if (isSimpleKey(key, w)) {
        emitNode(w, key, keySpot);
        w.indicator(':', false, false, false);
      } else {
        w.indicator('?', true, false, false);
        emitNode(w, key, valueSpot);
        if (w.column > w.width) w.indent();
        w.indicator(':', true, false, false);
      }
      emitNode(w, node.items[i + 1] as DumpNode, valueSpot);
    }
  });
  w.flowLevel--;
  w.indicator('}', false, false, false);
}

/** A list that is the value of a key is not indented below it. */
function emitBlockSequence(w: Writer, node: DumpNode, indentless: boolean): void {
  w.deeper(false, indentless, () => {
    for (const item of node.items) {
      w.indent();
      w.indicator('-', true, false, true);
      emitNode(w, item, itemSpot);
    }
  });
}

function emitBlockMapping(w: Writer, node: DumpNode): void {
  w.deeper(false, false, () => {
    for (let i = 0; i < node.items.length; i += 2) {
      const key = node.items[i] as DumpNode;
      w.indent();
      if (isSimpleKey(key, w)) {
        emitNode(w, key, keySpot);
        w.indicator(':', false, false, false);
      } else {
        w.indicator('?', true, false, true);
        emitNode(w, key, valueSpot);
        w.indent();
        w.indicator(':', true, false, true);
      }
      emitNode(w, node.items[i + 1] as DumpNode, valueSpot);
    }
  });
}

/** Whether a key fits on the line of its value: one line, at most 128 bytes with anchor and tag. */
function isSimpleKey(node: DumpNode, w: Writer): boolean {
  let length = node.anchor?.length ?? 0;
  if (node.anchor !== undefined && node.written) return length <= maxKeyBytes;
  length += shownTag(node)?.length ?? 0;
  if (node.kind === 'scalar') {
    if (analyzeScalar(node.text, w.allowUnicode).multiline) return false;
    length += node.text.length > maxKeyBytes ? node.text.length : Buffer.byteLength(node.text);
  } else if (node.items.length > 0) return false;
  return length <= maxKeyBytes;
}

type Style = 'plain' | 'single' | 'double' | 'literal';

function emitScalar(w: Writer, node: DumpNode, spot: Spot): void {
  const analysis = analyzeScalar(node.text, w.allowUnicode);
  const tag = shownTag(node);
  const style = selectStyle(w, node, spot, analysis, tag !== undefined);
  if (node.anchor !== undefined) writeAnchor(w, '&', node.anchor);
  // A quoted scalar is always text: a lone `!` marks it as a scalar that is read as if it were unquoted.
  writeTag(w, tag ?? (style !== 'plain' && node.tag !== tags.str ? '!' : undefined));
  w.deeper(true, false, () => {
    if (style === 'plain') writePlain(w, node.text, !spot.simpleKey);
    else if (style === 'single') writeSingleQuoted(w, node.text, !spot.simpleKey);
    else if (style === 'double') writeDoubleQuoted(w, node.text, !spot.simpleKey);
    else writeLiteral(w, node.text);
  });
}

function selectStyle(w: Writer, node: DumpNode, spot: Spot, analysis: ScalarAnalysis, hasTag: boolean): Style {
  if (spot.simpleKey && analysis.multiline) return 'double';
  if (node.literal) return analysis.block && w.flowLevel === 0 && !spot.simpleKey ? 'literal' : 'double';
  const plainAllowed = w.flowLevel > 0 ? analysis.flowPlain : analysis.blockPlain;
  const emptyInside = node.text === '' && (w.flowLevel > 0 || spot.simpleKey);
  if (plainAllowed && !emptyInside && (hasTag || node.plainImplicit)) return 'plain';
  return analysis.singleQuoted ? 'single' : 'double';
}
