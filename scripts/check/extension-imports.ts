// Extensions are based on the SDK: a user's extension can import everything that built-in ones import.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { importsOf, readRules, sourceFiles } from './architecture.ts';
import { isTestFile } from './source-graph.ts';

/** The kind of an extension (`modules`), or `shared`, which all kinds may use. */
const kindOf = (path: string): string | undefined => /^src\/ext\/([^/]+)\//.exec(path)?.[1];

/** Every import of a file below src/ext that bypasses the SDK, as one line. Tests may import what they test with. */
export function findExtensionImports(root: string): string[] {
  const { extensions, libraries } = readRules(root);
  const parts = (name: string): boolean => existsSync(join(root, 'src/extend/sdk', name, 'index.ts'));
  const problemOf = (path: string, specifier: string): string | undefined => {
    if (specifier.startsWith('.')) {
      const target = join(dirname(path), specifier);
      const kind = kindOf(target);
      if (kind === kindOf(path) || kind === 'shared') return undefined;
      if (kind === undefined) return `imports ${target}: what extensions need comes from halite/sdk`;
      return `imports ${target}: what ${kindOf(path)} and ${kind} share belongs in src/ext/shared`;
    }
    if (specifier.startsWith('node:'))
      return extensions.node.includes(specifier)
        ? undefined
        : `imports ${specifier}: halite/sdk/fs and halite/sdk/system provide it, with the checks of test mode`;
    const part = /^halite\/sdk(?:\/([a-z]+))?$/.exec(specifier);
    if (part)
      return part[1] === undefined || parts(part[1]) ? undefined : `imports ${specifier}, which is not part of the SDK`;
    return libraries[specifier]?.includes('ext') ? undefined : `imports ${specifier}, which is not allowed here`;
  };
  return sourceFiles(root)
    .map((file) => relative(root, file))
    .filter((path) => path.startsWith('src/ext/') && !isTestFile(path))
    .flatMap((path) =>
      importsOf(readFileSync(join(root, path), 'utf8')).flatMap(({ specifier }) => {
        const problem = problemOf(path, specifier);
        return problem ? [`${path}: ${problem}`] : [];
      }),
    );
}
