// Imports a module by its address, also from commands that run out of V8's code cache.
import Module from 'node:module';

type Exports = Record<string, unknown>;
type Importer = (url: string) => Promise<Exports>;

interface Compilable {
  exports: unknown;
  _compile(code: string, filename: string): void;
}

let fresh: Importer | undefined;

/**
 * A script taken from the code cache has lost what Node needs for `import()`; in commands the builder writes `require`
 * instead, which takes no addresses. A function compiled on the spot can import: that is what Node's own CommonJS loader
 * does with every file.
 */
function freshImporter(): Importer {
  if (!fresh) {
    const compiled = new Module('halite-import') as unknown as Compilable;
    compiled._compile('module.exports = (url) => import(url);', 'halite-import.cjs');
    fresh = compiled.exports as Importer;
  }
  return fresh;
}

const unable = new Set(['ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING', 'MODULE_NOT_FOUND']);

export async function importUrl(url: string): Promise<Exports> {
  try {
    return (await import(url)) as Exports;
  } catch (error) {
    if (!unable.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return freshImporter()(url);
  }
}
