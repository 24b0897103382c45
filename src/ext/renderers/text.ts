// Renderer `text`: the text as it is, without the `#!` line.
import { defineRenderer } from 'halite/sdk';

export default defineRenderer({
  name: 'text',
  doc: 'Gives the text as it is; a first line that begins with #! is left out.',
  input: 'text',
  output: 'text',
  render: (source, ctx) => (ctx.first ? (source as string).replace(/^#![^\n]*(?:\n|$)/, '') : source),
});
