// Renderer `yaml`: Salt's YAML, with its rules for numbers, duplicate keys and messages.
import { defineRenderer, newDict, RenderError, type Value } from 'halite/sdk';
import { loadYaml, YamlError } from 'halite/sdk/codec';
import { isFalsy } from './shared/falsy.ts';

/** PyYAML's error text → the text in Salt's messages; real installations use libyaml, whose texts differ. */
const renamed: Readonly<Record<string, string>> = {
  "found character '\\t' that cannot start any token": 'Illegal tab character',
};

/** Errors of PyYAML that have a position; the others are Python's own (`ValueError`, …) and have only a message. */
const marked = new Set(['ReaderError', 'ParserError', 'ComposerError', 'ConstructorError']);

/** The text that Salt shows: only the problem for a scanner error, everything for parser and constructor errors. */
export function yamlRenderError(error: YamlError, file: string | undefined): RenderError {
  const { line, column, excerpt, kind } = error;
  const hint = hintFor(error);
  const text = marked.has(kind) ? error.message : (renamed[error.problem] ?? error.problem);
  const own = kind === 'ScannerError' || kind === 'ParserError' || kind === 'ConstructorError';
  return new RenderError(
    text,
    { file, line, column, excerpt },
    {
      pyType: own ? 'SaltRenderError' : kind,
      cause: error,
      ...(hint ? { hint } : {}),
    },
  );
}

function hintFor(error: YamlError): string | undefined {
  const at = `line ${error.line}, column ${error.column}`;
  if (/\t/.test(error.excerpt) && /start any token|violates indentation/.test(error.problem)) {
    return `There is a tab at ${at}: indent with spaces only.`;
  }
  if (error.problem.includes('conflicting ID')) return `The key at ${at} is there already: give it another name.`;
  if (error.problem.includes('unacceptable key')) return `Quote the template expression at ${at}: "{{ … }}".`;
  return undefined;
}

export default defineRenderer({
  name: 'yaml',
  doc: 'Reads YAML 1.1 with Salt’s rules: duplicate keys are errors, 0644 is 644, dates stay text. An empty text is an empty map.',
  input: 'text',
  output: 'data',
  render(source, ctx): Value {
    try {
      const value = loadYaml(source as string, { ordered: true });
      return isFalsy(value) ? newDict() : value;
    } catch (error) {
      throw error instanceof YamlError ? yamlRenderError(error, ctx.path) : error;
    }
  },
});
