// TypeScript of users to JavaScript: types are taken out, by Node itself where it can and by sucrase elsewhere.
import * as nodeModule from 'node:module';

type Strip = (code: string, options?: { readonly mode?: 'strip' }) => string;

/** The text without its types; every line stays where it was. Throws what is wrong with the text. */
export async function stripTypes(code: string): Promise<string> {
  const strip = (nodeModule as { readonly stripTypeScriptTypes?: Strip }).stripTypeScriptTypes;
  if (strip) return quietly(() => strip(code, { mode: 'strip' }));
  const { transform } = await import('sucrase');
  return transform(code, { transforms: ['typescript'], disableESTransforms: true }).code;
}

/** Node says with every first use that this is experimental, which tells an operator nothing. */
function quietly<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = (() => undefined) as typeof process.emitWarning;
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
