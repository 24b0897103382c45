// Converts anything thrown while rendering to a JinjaError with position and template stack.
import { HaliteError, messageOf, PythonException } from '../../../base/errors/index.ts';
import { isSyntaxFamily, JinjaError, PyError, sourceExcerpt, type TemplateFrame } from './errors.ts';
import type { Runtime } from './runtime/runtime.ts';

const saltTypes: Readonly<Record<string, string>> = {
  'call.arguments': 'SaltInvocationError',
  'call.failed': 'CommandExecutionError',
};

/** The Python exception class an error corresponds to. */
function pyTypeOf(error: unknown): string {
  // A JinjaError comes from a function that itself renders a template.
  if (error instanceof PyError || error instanceof JinjaError) return error.pyType;
  if (error instanceof PythonException) return error.name;
  if (error instanceof HaliteError) return saltTypes[error.code] ?? 'SaltException';
  if (error instanceof RangeError) return /call stack/i.test(error.message) ? 'RecursionError' : 'MemoryError';
  return 'Exception';
}

function textOf(error: unknown): string {
  const type = pyTypeOf(error);
  if (type === 'RecursionError') return 'maximum recursion depth exceeded';
  return type === 'MemoryError' ? '' : messageOf(error);
}

/** Syntax errors have their own position; others happened in the innermost frame. */
function placeOf(error: unknown, frames: readonly TemplateFrame[]): TemplateFrame | undefined {
  if (error instanceof PyError && error.source !== undefined) {
    const { template, path, source, line } = error;
    return { template, path, source, line: line ?? 0, location: 'template' };
  }
  return frames.at(-1);
}

/** Adds the place and the template stack. */
export function locateError(error: unknown, rt: Runtime): JinjaError {
  const frames = rt.trace();
  const place = placeOf(error, frames);
  const syntax = error instanceof PyError && isSyntaxFamily(error.pyType);
  if (error instanceof PyError && error.source !== undefined && place !== undefined) frames.push(place);
  const line = place === undefined || (syntax && place.line === 0) ? undefined : place.line;
  return new JinjaError({
    pyType: pyTypeOf(error),
    message: textOf(error),
    template: place?.template,
    path: place?.path,
    line,
    column: error instanceof PyError ? error.column : undefined,
    frames,
    excerpt: place === undefined || line === undefined ? '' : sourceExcerpt(place.source, line),
    cause: error,
  });
}
