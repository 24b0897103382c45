// The only way to put an untrusted name into a path: join, then check that the result is inside the root.
import { isAbsolute, normalize, resolve, sep } from 'node:path';
import { HaliteError } from '../errors/index.ts';

/** Whether `path` is `root` or below it, by its text alone: the caller must resolve symlinks. */
export function isInside(root: string, path: string): boolean {
  const base = resolve(root);
  const full = resolve(path);
  return full === base || full.startsWith(base.endsWith(sep) ? base : base + sep);
}

/** `root` and relative parts joined; refused when a part is absolute, leaves the root, or contains a NUL. */
export function safeJoin(root: string, ...parts: string[]): string {
  let path = resolve(root);
  for (const part of parts) {
    if (typeof part !== 'string' || part.includes('\0') || isAbsolute(part)) throw refused(part);
    const steps = normalize(part).split(/[/\\]/);
    if (steps.includes('..')) throw refused(part);
    path = resolve(path, part);
  }
  if (!isInside(root, path)) throw refused(parts.join('/'));
  return path;
}

const refused = (part: unknown): HaliteError =>
  new HaliteError('path.refused', `The path ${JSON.stringify(part)} is not acceptable`);
