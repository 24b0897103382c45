// Errors of the engine: Python's exceptions, and the located error for callers.
import { HaliteError } from '../../../base/errors/index.ts';

/** An exception with its Python name, thrown inside the engine; it is converted to a JinjaError at the interface. */
export class PyError extends Error {
  /** Python class name: `TypeError`, `UndefinedError`, `TemplateSyntaxError`… */
  readonly pyType: string;
  /** Line known when raised (syntax errors); runtime errors get theirs from the frame stack. */
  line: number | undefined;
  column: number | undefined;
  /** Display name of the template for errors that are raised before a frame exists. */
  template: string | undefined;
  path: string | undefined;
  source: string | undefined;

  constructor(pyType: string, message: string, line?: number, column?: number) {
    super(message);
    this.name = 'PyError';
    this.pyType = pyType;
    this.line = line;
    this.column = column;
  }
}

export const typeError = (message: string): PyError => new PyError('TypeError', message);
export const valueError = (message: string): PyError => new PyError('ValueError', message);
export const indexError = (message: string): PyError => new PyError('IndexError', message);
export const overflowError = (message: string): PyError => new PyError('OverflowError', message);
export const zeroDivision = (message: string): PyError => new PyError('ZeroDivisionError', message);
export const memoryError = (): PyError => new PyError('MemoryError', '');
export const runtimeError = (message: string): PyError => new PyError('TemplateRuntimeError', message);
export const filterArgumentError = (message: string): PyError => new PyError('FilterArgumentError', message);
export const syntaxError = (message: string, line: number, column?: number): PyError =>
  new PyError('TemplateSyntaxError', message, line, column);
export const assertionError = (message: string, line: number): PyError =>
  new PyError('TemplateAssertionError', message, line);

const runtimeFamily = new Set(['TemplateRuntimeError', 'UndefinedError', 'SecurityError', 'FilterArgumentError']);
const syntaxFamily = new Set(['TemplateSyntaxError', 'TemplateAssertionError']);

/** True for `UndefinedError` and its relatives below TemplateRuntimeError. */
export const isRuntimeFamily = (pyType: string): boolean => runtimeFamily.has(pyType);
export const isSyntaxFamily = (pyType: string): boolean => syntaxFamily.has(pyType);

/** True when an error is one of the named Python exceptions. */
export function isPyError(error: unknown, ...types: string[]): error is PyError {
  return error instanceof PyError && (types.length === 0 || types.includes(error.pyType));
}

/** One level of the template stack, outermost first. */
export interface TemplateFrame {
  /** Name the template was loaded by; `undefined` for a template given as text without a name. */
  readonly template: string | undefined;
  /** Path of the file when the loader knows it. */
  readonly path: string | undefined;
  readonly line: number;
  /** The kind of code that runs there: `top-level template code`, `template` (macro, loop) or `block 'x'`. */
  readonly location: string;
  readonly source: string;
}

export interface JinjaErrorFacts {
  readonly pyType: string;
  readonly message: string;
  readonly template: string | undefined;
  readonly path: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly frames: readonly TemplateFrame[];
  readonly excerpt: string;
  readonly cause: unknown;
}

/** A failed compile or render: Python's class and message, the position, the template stack and an excerpt. */
export class JinjaError extends HaliteError {
  readonly pyType: string;
  readonly template: string | undefined;
  readonly path: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly frames: readonly TemplateFrame[];
  readonly excerpt: string;

  constructor(facts: JinjaErrorFacts) {
    const { pyType, message, template, path, line, column, frames, excerpt, cause } = facts;
    super('render.failed', message, { cause, details: { pyType, template, path, line, column, frames, excerpt } });
    this.name = 'JinjaError';
    this.pyType = pyType;
    this.template = template;
    this.path = path;
    this.line = line;
    this.column = column;
    this.frames = frames;
    this.excerpt = excerpt;
  }
}

export const errorMarker = '    <======================';

/** Lines around `line` (five each way) between `---` marks, as Salt prints them; the whole text if out of range. */
export function sourceExcerpt(text: string, line: number, marker: string = errorMarker, around = 5): string {
  const lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
  if (lines.length > 0 && lines[lines.length - 1] === '') lines.pop();
  if (line > lines.length || line < 1) return text;
  const start = Math.max(0, line - around - 1);
  const end = Math.min(lines.length, line + around);
  const shown = lines.slice(start, end);
  shown[line - start - 1] += marker;
  if (start > 0) shown.unshift('[...]');
  if (end < lines.length) shown.push('[...]');
  return `---\n${shown.join('\n')}\n---`;
}
