// Refuses keys that nobody reads in what an extension declares: a typing error would otherwise be ignored in silence.
import { HaliteError } from '../../base/errors/index.ts';
import { nearest } from '../../base/util/nearest.ts';

/** Every key a declaration can have. The compiler checks that none is missing. */
export type KnownKeys<Spec> = Readonly<Record<keyof Spec, true>>;

/** The declaration as it was given; throws extension.broken when it has a key that is not known. `what`: `defineModule()`. */
export function withKnownKeys<Spec extends object>(what: string, spec: Spec, known: KnownKeys<Spec>): Spec {
  for (const key of Object.keys(spec)) {
    // `kind` comes along when one extension is made out of another: defineModule({ ...other, functions }).
    if (key === 'kind' || Object.hasOwn(known, key)) continue;
    const names = Object.keys(known);
    const meant = nearest(key, names);
    const help = meant ? `did you mean ${meant}?` : `it takes ${names.join(', ')}`;
    throw new HaliteError('extension.broken', `${what}${titleOf(spec)} has the unknown key ${key}: ${help}`);
  }
  return spec;
}

/** What tells one declaration of a file from another: its name, or how its documentation begins. */
function titleOf(spec: object): string {
  const { name, doc } = spec as { readonly name?: unknown; readonly doc?: unknown };
  if (typeof name === 'string') return ` ${name}`;
  return typeof doc === 'string' && doc !== '' ? ` "${doc.split('\n', 1)[0]!.slice(0, 60)}"` : '';
}
