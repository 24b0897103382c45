// Renderer `yamlex`: YAML whose values may be merged (`!aggregate`) or reset (`!reset`) instead of replaced.
import { defineRenderer, newDict, RenderError } from 'halite/sdk';
import { loadYamlex, YamlError } from 'halite/sdk/codec';
import { isFalsy } from './shared/falsy.ts';

export default defineRenderer({
  name: 'yamlex',
  doc: 'Reads YAML with !aggregate (merge with earlier values) and !reset (discard earlier values); duplicate keys at the top level are not errors.',
  input: 'text',
  output: 'data',
  render(source, ctx) {
    try {
      const value = loadYamlex(source as string);
      return isFalsy(value) ? newDict() : value;
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      const { line, column, excerpt } = error;
      const text = error.kind === 'ScannerError' ? 'Unknown yaml render error' : error.message;
      throw new RenderError(text, { file: ctx.path, line, column, excerpt }, { cause: error, hint: error.problem });
    }
  },
});
