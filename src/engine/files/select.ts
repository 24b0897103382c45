// The backends that an operator selects: `roots,git`, `-git`, or all of them.
import type { Value } from '../../base/codec/value.ts';
import type { FileBackend } from './backend.ts';

/** Salt's rules: names select; when every name has a minus they are excluded instead; unknown names are ignored. */
export function selectBackends(all: readonly FileBackend[], which: Value): FileBackend[] {
  if (which === null || which === '' || which === false || (Array.isArray(which) && which.length === 0)) {
    return [...all];
  }
  const names = (Array.isArray(which) ? which : String(which).split(',')).map(String);
  if (names.every((name) => name.startsWith('-'))) {
    return all.filter((backend) => !names.some((name) => answersTo(backend, name.slice(1))));
  }
  return [...new Set(names.flatMap((name) => all.filter((backend) => answersTo(backend, name))))];
}

/** `git` and `gitfs` are two names of the same backend, and so on. */
function answersTo(backend: FileBackend, name: string): boolean {
  return backend.name === name || canonical(backend.name) === canonical(name);
}

function canonical(name: string): string {
  return name.endsWith('fs') ? name.slice(0, -2) : name;
}
