// TypeScript extensions become JavaScript when they are synced: types are taken out, nothing is compiled.
import * as nodeModule from 'node:module';
import { HaliteError } from '../../base/errors/index.ts';

type Strip = (code: string, options?: { readonly mode?: 'strip' }) => string;

/** The text without its types. Needs a Node that can do it: 22.13 and newer. */
export async function stripTypes(code: string): Promise<string> {
  const strip = (nodeModule as { readonly stripTypeScriptTypes?: Strip }).stripTypeScriptTypes;
  if (!strip) {
    throw new HaliteError(
      'extension.broken',
      `TypeScript extensions need Node 22.13 or newer on the minion, and this is ${process.version}; write it in JavaScript, or update Node`,
    );
  }
  return strip(code, { mode: 'strip' });
}
