// Renderer `text`: the text as it is, without the `#!` line.
import { defineRenderer } from 'halite/sdk';

export default defineRenderer({
  name: 'text',
  doc: 'Returns the text unchanged, without a first line that begins with #!.',
  input: 'text',
  output: 'text',
  render: (source, ctx) => (ctx.first ? (source as string).replace(/^#![^\n]*(?:\n|$)/, '') : source),
});
