// The loaded extensions as `sys.*` shows them to operators.
import type { FunctionInfo, Registry } from '../sdk/index.ts';
import { hasFunctions, isKind } from './kinds.ts';
import type { Loader } from './loader.ts';
import { returnerFunction, returnerFunctions } from './returner-functions.ts';

/** A registry over one loader. Kinds that do not exist are empty, not errors. */
export function createRegistry(loader: Loader): Registry {
  return {
    async functionNames(kind) {
      if (kind === 'returners') return (await loader.all(kind)).flatMap(returnerFunctions).sort();
      if (!isKind(kind) || !hasFunctions(kind)) return [];
      return loader.functionNames(kind);
    },
    async moduleNames(kind) {
      return isKind(kind) ? (await loader.all(kind)).map((module) => module.name) : [];
    },
    async functionInfo(kind, name): Promise<FunctionInfo | undefined> {
      if (kind === 'returners') {
        const returner = await loader.get(kind, name.split('.', 1)[0]!);
        return returner ? returnerFunction(returner, name) : undefined;
      }
      if (!isKind(kind) || !hasFunctions(kind)) return undefined;
      return loader.functionInfo(kind, name);
    },
    async moduleDoc(kind, name) {
      return isKind(kind) ? (await loader.get(kind, name))?.extension.doc : undefined;
    },
  };
}
