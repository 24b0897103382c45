// Outputters: how a result is printed on a terminal.
import type { JsonText } from '../../base/codec/json/json-text.ts';
import type { Value } from '../../base/codec/value.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

export interface OutputOptions {
  readonly color: boolean;
  /** Indent given with --out-indent; undefined means the outputter's own default. */
  readonly indent?: number;
  /** The command's and master's options (state_output, state_verbose, …). */
  readonly opts: Readonly<Record<string, Value>>;
  /** The job's return code, which turns keys red in `nested`. */
  readonly retcode?: number;
}

export interface OutputterSpec {
  readonly name: string;
  readonly doc: string;
  render(data: Value, options: OutputOptions): string;
  /** The same for a value that is already JSON text; undefined when `render` has to be used. */
  renderText?(text: JsonText, options: OutputOptions): Uint8Array | undefined;
}
export interface Outputter extends Omit<OutputterSpec, 'render'> {
  readonly kind: 'outputters';
  /** Those in Python answer later. */
  render(data: Value, options: OutputOptions): string | Promise<string>;
}
const outputterKeys: KnownKeys<OutputterSpec> = { name: true, doc: true, render: true, renderText: true };

export const defineOutputter = (spec: OutputterSpec): OutputterSpec & { readonly kind: 'outputters' } => ({
  kind: 'outputters',
  ...withKnownKeys('defineOutputter()', spec, outputterKeys),
});
