// Loading: text to value, with Salt's YAML rules and with limits.
import type { Value } from '../value.ts';
import { composeSingle } from './composer.ts';
import { constructDocument } from './construct.ts';
import { hasCycle } from './cycle.ts';
import type { YamlErrorCode } from './error.ts';
import { isStackOverflow } from './limits.ts';
import { EventParser } from './parser.ts';
import { PositionRecorder, YamlPositions } from './positions.ts';
import { Scanner } from './scanner.ts';
import { YamlSource } from './source.ts';

export interface LoadYamlOptions {
  /** File name for error messages. */
  readonly name?: string;
  /** `keep` (default): `1.0` becomes a PyFloat; `plain`: it becomes the number 1. */
  readonly floats?: 'keep' | 'plain';
  /** `error` (default, as Salt): equal keys in one mapping are refused; `last`: the last one wins. */
  readonly duplicates?: 'error' | 'last';
  /** Mappings count as ordered maps: `dumpYaml` will not sort their keys. As in Salt's renderer. */
  readonly ordered?: boolean;
  /** How deep collections may nest (default 1000). */
  readonly maxDepth?: number;
  /** How many values aliases may add when written out in full (default one million). */
  readonly maxExpansion?: number;
  /** The code of the error thrown (default `render.failed`). */
  readonly errorCode?: YamlErrorCode;
}

export interface PositionedYaml {
  readonly value: Value;
  readonly positions: YamlPositions;
}

/** Reads one YAML document; null for an empty one. Throws YamlError. */
export function loadYaml(text: string, options: LoadYamlOptions = {}): Value {
  return load(sourceOf(text, options), options, undefined);
}

/** Reads one YAML document and records the line of every key and list item. */
export function loadYamlWithPositions(text: string, options: LoadYamlOptions = {}): PositionedYaml {
  const source = sourceOf(text, options);
  const recorder = new PositionRecorder();
  const value = load(source, options, recorder);
  return { value, positions: new YamlPositions(recorder, source, value) };
}

function sourceOf(text: string, options: LoadYamlOptions): YamlSource {
  return new YamlSource(text, options.name ?? '<unicode string>', options.errorCode ?? 'render.failed');
}

function load(source: YamlSource, options: LoadYamlOptions, positions: PositionRecorder | undefined): Value {
  try {
    return read(source, options, positions);
  } catch (error) {
    // The caller may have used up most of the stack, or allowed more depth than there is stack for.
    if (isStackOverflow(error)) return source.fail('limit', 'nested too deeply', source.start);
    throw error;
  }
}

function read(source: YamlSource, options: LoadYamlOptions, positions: PositionRecorder | undefined): Value {
  source.checkCharacters();
  const parser = new EventParser(source, new Scanner(source));
  const { root, cycleAt } = composeSingle(parser, {
    maxDepth: options.maxDepth ?? 1000,
    maxExpansion: options.maxExpansion ?? 1_000_000,
  });
  if (root === undefined) return null;
  const value = constructDocument(root, {
    source,
    keepFloats: options.floats !== 'plain',
    duplicates: options.duplicates ?? 'error',
    ordered: options.ordered ?? false,
    positions,
  });
  // Python would return a value that contains itself. (A mapping merged into itself does not.)
  if (cycleAt !== undefined && hasCycle(value))
    source.fail('recursive', 'found unconstructable recursive node', cycleAt);
  return value;
}
