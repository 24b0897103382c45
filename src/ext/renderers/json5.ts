// Renderer `json5`.
import { defineRenderer, newDict } from 'halite/sdk';
import { loadJson5 } from './shared/json5.ts';
import { behindShebang } from './shared/relaxed-text.ts';

export default defineRenderer({
  name: 'json5',
  doc: 'Reads JSON5 ( comments, names without quotes, single quotes, trailing commas, hexadecimal numbers). A first line that begins with #! is left out, and nothing at all is an empty map.',
  input: 'text',
  output: 'data',
  render(source, ctx) {
    const { text, firstLine } = behindShebang(source as string);
    return text.trim() === '' ? newDict() : loadJson5(text, ctx.path, firstLine);
  },
});
