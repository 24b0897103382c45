// Modules, states and runners with their functions, read from the extensions themselves.
import { builtin } from '../../../src/extend/loader/builtin.gen.ts';
import type { Params } from '../../../src/extend/sdk/params.ts';

export type ReferenceKind = 'modules' | 'states' | 'runners';

export interface FunctionDefinition {
  /** As it is called: `pkg.install`. */
  readonly name: string;
  readonly doc: string;
  readonly examples: readonly string[];
  readonly params: Params;
}
export interface ModuleDefinition {
  readonly kind: ReferenceKind;
  /** Of its file: `aptpkg`. */
  readonly file: string;
  /** By which its functions are called: `pkg`. */
  readonly name: string;
  readonly doc: string;
  readonly functions: readonly FunctionDefinition[];
}

interface Loaded {
  readonly doc?: string;
  readonly virtualName?: string;
  readonly name: string;
  readonly functions: Readonly<Record<string, { doc: string; examples?: readonly string[]; params: Params }>>;
  readonly aliases?: Readonly<Record<string, string>>;
}

export async function definitions(kind: ReferenceKind): Promise<ModuleDefinition[]> {
  const found = await Promise.all(
    Object.entries(builtin[kind] ?? {}).map(async ([file, entry]) => {
      const module = (await entry.load()).default as Loaded;
      const name = entry.virtualName ?? module.virtualName ?? module.name;
      // A name that Python could not give to a function is the one that people call.
      const named = new Map(Object.entries(module.aliases ?? {}).map(([alias, own]) => [own, alias]));
      const functions = Object.entries(module.functions).map(([own, { doc, examples, params }]) => ({
        name: `${name}.${own.endsWith('_') ? (named.get(own) ?? own) : own}`,
        doc,
        examples: examples ?? [],
        params,
      }));
      return {
        kind,
        file,
        name,
        doc: module.doc ?? '',
        functions: functions.sort((a, b) => (a.name < b.name ? -1 : 1)),
      };
    }),
  );
  return found.sort((a, b) => (a.name === b.name ? (a.file < b.file ? -1 : 1) : a.name < b.name ? -1 : 1));
}
