// Types of calls between functions: names and arguments of built-in functions are checked where their table is
// available.
import type { Value } from '../../base/codec/value.ts';

/**
 * Function name → its positional arguments. Empty for users' extensions; in this repository scripts/gen-calls.mjs fills
 * it from the modules (calls.gen.ts).
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface BuiltinFunctions {}

/** False for names that are computed at run time (`string`, `pkg.${string}`). */
type IsLiteral<F extends string> = Record<never, never> extends Record<F, 1> ? false : true;

/** The name itself, or never when it is a literal and no built-in function has it. */
export type KnownFunction<F extends string> = keyof BuiltinFunctions extends never
  ? F
  : IsLiteral<F> extends false
    ? F
    : F extends keyof BuiltinFunctions
      ? F
      : never;

export type CallArguments<F extends string> =
  IsLiteral<F> extends false
    ? Value[]
    : F extends keyof BuiltinFunctions
      ? BuiltinFunctions[F] extends Value[]
        ? BuiltinFunctions[F]
        : Value[]
      : Value[];
