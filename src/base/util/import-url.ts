// Imports a module by its URL, also in commands that run from V8's code cache.
import Module from 'node:module';

type Exports = Record<string, unknown>;
type Importer = (url: string) => Promise<Exports>;

interface Compilable {
  exports: unknown;
  _compile(code: string, filename: string): void;
}

let fresh: Importer | undefined;

/**
 * A script from the code cache lacks what Node needs for `import()`; in commands the bundler writes `require` instead,
 * which does not accept URLs. A function compiled at run time can import: Node's own CommonJS loader does the same with
 * every file.
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
