// Renderer `ts`: an SLS file as a TypeScript module.
import { defineRenderer } from 'halite/sdk';
import { runModule, withoutTypes } from './shared/code.ts';

export default defineRenderer({
  name: 'ts',
  doc: `Like js, with types, which are removed before the module runs.
\`import type { SlsBuilder } from 'halite/sdk'\` gives the type of the default export.`,
  input: 'text',
  output: 'data',
  render: async (source, ctx) => runModule(await withoutTypes(source as string, ctx), ctx),
});
