// Dumping: value to text, as Salt's safe dumper with libyaml does it.
import { HaliteError } from '../../errors/index.ts';
import type { Value } from '../value.ts';
import { emitDocument } from './emitter.ts';
import { isStackOverflow } from './limits.ts';
import { represent } from './represent.ts';
import { Writer } from './writer.ts';

export interface DumpYamlOptions {
  /** true: everything on one line; false: blocks; null (default): only collections of scalars in flow style. */
  readonly flow?: boolean | null;
  /** Spaces per level, 2 to 9 (default 2). */
  readonly indent?: number;
  /** Sort keys (default true), except of ordered maps and of maps whose keys have no common order. */
  readonly sortKeys?: boolean;
  /** Where lines wrap (default 80); negative: never. */
  readonly width?: number;
  /** Write letters outside ASCII as they are (default true). */
  readonly allowUnicode?: boolean;
  /** How deep collections may nest (default 1000). */
  readonly maxDepth?: number;
}

/** The YAML text of a value, with a final line break. */
export function dumpYaml(value: Value, options: DumpYamlOptions = {}): string {
  const asked = Math.trunc(options.indent ?? 2);
  const step = asked >= 2 && asked <= 9 ? asked : 2;
  const width = options.width ?? 80;
  const fitting = width < 0 ? Number.POSITIVE_INFINITY : width <= step * 2 ? 80 : width;
  const writer = new Writer(fitting, step, options.allowUnicode ?? true);
  const rules = {
    flow: options.flow ?? null,
    sortKeys: options.sortKeys ?? true,
    maxDepth: options.maxDepth ?? 1000,
  };
  try {
    emitDocument(represent(value, rules), writer);
  } catch (error) {
    if (isStackOverflow(error)) throw new HaliteError('codec.limit', 'Value is nested too deeply.', { cause: error });
    throw error;
  }
  return writer.text;
}
