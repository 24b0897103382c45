// Outputters: how a result is shown on a terminal.
import type { Value } from '../../base/codec/value.ts';

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
}
export interface Outputter extends OutputterSpec {
  readonly kind: 'outputters';
}
export const defineOutputter = (spec: OutputterSpec): Outputter => ({ kind: 'outputters', ...spec });
