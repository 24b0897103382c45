// Renderer `toml`.
import { defineRenderer, RenderError } from 'halite/sdk';
import { loadToml, TomlError } from 'halite/sdk/codec';

export default defineRenderer({
  name: 'toml',
  doc: 'Reads TOML 1.0; dates and times stay text. An empty text is an empty map.',
  input: 'text',
  output: 'data',
  render(source, ctx) {
    try {
      return loadToml(source as string);
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const { line, column } = error;
      throw new RenderError(
        error.message,
        { file: ctx.path, line, column },
        { pyType: 'TomlDecodeError', cause: error },
      );
    }
  },
});
