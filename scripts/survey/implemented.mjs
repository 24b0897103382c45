// Every function of the built-in loader, by kind.
import { withBuiltin } from '../load-builtin.mjs';

async function names(table) {
  const found = new Set();
  for (const [file, entry] of Object.entries(table)) {
    const module = (await entry.load()).default;
    const prefix = entry.virtualName ?? module.virtualName ?? module.name ?? file;
    const own = [...Object.keys(module.functions), ...Object.keys(module.aliases ?? {})];
    for (const name of own) for (const start of new Set([prefix, module.name])) found.add(`${start}.${name}`);
  }
  return found;
}

/** `{states, modules}`: sets of `module.function`. */
export function implemented() {
  return withBuiltin(async (builtin) => ({
    states: await names(builtin.states),
    modules: await names(builtin.modules),
  }));
}
