// Names of the functions that a real Salt defines, read from its source without loading it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

// The syntax tree gives a module's functions even if the module is not available on this machine.
const reader = `
import ast, json, os, salt

def own_names(tree):
    virtual, alias, found = set(), {}, set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            if node.name == "__virtual__":
                for part in ast.walk(node):
                    if isinstance(part, ast.Return) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str):
                        virtual.add(part.value.value)
            elif not node.name.startswith("_"):
                found.add(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                name = getattr(target, "id", "")
                if name == "__virtualname__" and isinstance(node.value, ast.Constant):
                    virtual.add(node.value.value)
                elif name == "__func_alias__":
                    try:
                        alias.update(ast.literal_eval(node.value))
                    except ValueError:
                        pass
                elif name and not name.startswith("_") and name.islower():
                    call = node.value
                    if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("alias_function", "namespaced_function"):
                        found.add(name)
                    elif isinstance(call, ast.Name) and call.id in found:
                        found.add(name)
    return virtual, {alias.get(name, name) for name in found}

out = {}
for kind in ("states", "modules"):
    table = out[kind] = {}
    base = os.path.join(os.path.dirname(salt.__file__), kind)
    for entry in sorted(os.listdir(base)):
        path = os.path.join(base, entry)
        if os.path.isdir(path):
            path = os.path.join(path, "__init__.py")
        if not path.endswith(".py") or not os.path.exists(path) or entry.startswith("_"):
            continue
        with open(path, encoding="utf8") as handle:
            virtual, found = own_names(ast.parse(handle.read()))
        for name in {entry[:-3] if entry.endswith(".py") else entry, *virtual}:
            table.setdefault(name, set()).update(found)
print(json.dumps({kind: {name: sorted(f) for name, f in sorted(t.items())} for kind, t in out.items()}))
`;

/** Reads one installed Salt; returns `{states, modules}`, each `{module: [function…]}`. */
export function namesFromSalt(python) {
  const run = spawnSync(python, ['-c', reader], { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (run.status !== 0) throw new Error(`${python} could not read Salt's source: ${run.stderr}`);
  return JSON.parse(run.stdout);
}

/** Several releases combined: what any of them defines counts as a function of Salt. */
export function mergeNames(all) {
  const merged = { states: {}, modules: {} };
  for (const names of all) {
    for (const kind of ['states', 'modules']) {
      for (const [module, found] of Object.entries(names[kind])) {
        merged[kind][module] = [...new Set([...(merged[kind][module] ?? []), ...found])].sort();
      }
    }
  }
  return merged;
}

/** The form of the fixture: one line of names per module. */
export function packNames(names) {
  const pack = (table) => Object.fromEntries(Object.entries(table).map(([module, list]) => [module, list.join(' ')]));
  return `${JSON.stringify({ states: pack(names.states), modules: pack(names.modules) }, null, 1)}\n`;
}

/** The packed fixture as sets of `module.function`. */
export function readNames(file) {
  const packed = JSON.parse(readFileSync(file, 'utf8'));
  const unpack = (table) =>
    new Set(Object.entries(table).flatMap(([module, list]) => list.split(' ').map((name) => `${module}.${name}`)));
  return { states: unpack(packed.states), modules: unpack(packed.modules) };
}
