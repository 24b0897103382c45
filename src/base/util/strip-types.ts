// Converts users' TypeScript to JavaScript: Node removes the types where it can, sucrase elsewhere.
import * as nodeModule from 'node:module';

type Strip = (code: string, options?: { readonly mode?: 'strip' }) => string;

/** The text without its types; every line keeps its number. Throws when the text is not valid. */
export async function stripTypes(code: string): Promise<string> {
  const strip = (nodeModule as { readonly stripTypeScriptTypes?: Strip }).stripTypeScriptTypes;
  if (strip) return quietly(() => strip(code, { mode: 'strip' }));
  const { transform } = await import('sucrase');
  return transform(code, { transforms: ['typescript'], disableESTransforms: true }).code;
}

/** Node warns on first use that this is experimental, which does not help an operator. */
function quietly<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = (() => undefined) as typeof process.emitWarning;
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
