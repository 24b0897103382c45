// Renderer `hjson`.
import { defineRenderer, newDict } from 'halite/sdk';
import { loadHjson } from './shared/hjson.ts';
import { behindShebang } from './shared/relaxed-text.ts';

export default defineRenderer({
  name: 'hjson',
  doc: 'Reads Hjson ( comments, texts without quotes, optional commas and braces, blocks of lines in triple quotes). A first line that begins with #! is left out, and nothing at all is an empty map.',
  input: 'text',
  output: 'data',
  render(source, ctx) {
    const { text, firstLine } = behindShebang(source as string);
    return text.trim() === '' ? newDict() : loadHjson(text, ctx.path, firstLine);
  },
});
