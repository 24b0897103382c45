// What exists here, what exists in Salt, and what the installation brings itself; by kind of extension.
import { builtin } from '../../../../extend/loader/builtin.gen.ts';
import type { FunctionKind, Kind } from '../../../../extend/loader/kinds.ts';

type Module = { name: string; virtualName?: string; functions?: object; aliases?: object };

export interface Names {
  /** Whether a function exists in Halite. */
  here(kind: 'states' | 'modules', fun: string): boolean;
  /** Whether any release of Salt that is known has it. */
  inSalt(kind: 'states' | 'modules', fun: string): boolean;
  /** Every function of a kind here. */
  all(kind: FunctionKind): readonly string[];
  /** Whether an extension of another kind exists in Halite: a returner, a renderer, … */
  extension(kind: Kind, name: string): boolean;
}

/** Every function of a kind, whatever system it is for: the check is not about this machine. */
async function functionsOf(kind: FunctionKind): Promise<Set<string>> {
  const found = new Set<string>();
  for (const [file, entry] of Object.entries(builtin[kind] ?? {})) {
    const module = (await entry.load()).default as Module;
    const names = [...Object.keys(module.functions ?? {}), ...Object.keys(module.aliases ?? {})];
    const starts = new Set([entry.virtualName ?? module.virtualName ?? module.name ?? file, module.name]);
    for (const start of starts) for (const name of names) found.add(`${start}.${name}`);
  }
  return found;
}

function unpacked(table: Readonly<Record<string, string>>): Set<string> {
  return new Set(
    Object.entries(table).flatMap(([module, names]) => names.split(' ').map((name) => `${module}.${name}`)),
  );
}

export async function loadNames(): Promise<Names> {
  const { default: salt } = await import('./salt-names.json', { with: { type: 'json' } });
  const tables = { states: unpacked(salt.states), modules: unpacked(salt.modules) };
  const own = {
    states: await functionsOf('states'),
    modules: await functionsOf('modules'),
    runners: await functionsOf('runners'),
    wheel: await functionsOf('wheel'),
  };
  return {
    here: (kind, fun) => own[kind].has(fun),
    inSalt: (kind, fun) => tables[kind].has(fun),
    all: (kind) => [...own[kind]],
    extension: (kind, name) =>
      Object.entries(builtin[kind] ?? {}).some(([file, entry]) => file === name || entry.virtualName === name),
  };
}
