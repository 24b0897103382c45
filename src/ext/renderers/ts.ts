// Renderer `ts`: an SLS file as a TypeScript module.
import { defineRenderer } from 'halite/sdk';
import { runModule, stripTypes, withoutShebang } from './_lib/code.ts';

export default defineRenderer({
  name: 'ts',
  doc: `As js, with types: they are taken out before the module runs, which needs Node 22.13 or newer.
\`import type { SlsBuilder } from 'halite/sdk'\` gives the type of the default export.`,
  input: 'text',
  output: 'data',
  render: (source, ctx) => runModule(stripTypes(withoutShebang(source as string)), ctx),
});
