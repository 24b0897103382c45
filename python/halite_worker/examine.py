"""Says what users' files need, from their syntax alone: nothing of them is run or imported.

A program of its own (`python3 -I examine.py`): file names come on standard input, one as JSON in each line, and one
answer as JSON goes out for each."""
import ast
import builtins
import importlib.util
import json
import os
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LARGEST = 1024 * 1024
MOST = 200
PYTHON2 = {"unicode", "basestring", "xrange", "raw_input", "unichr", "long", "reload", "execfile", "cmp", "file"}
DUNDERS = {"__salt__", "__states__", "__utils__"}

_exports = {}


def main():
    for line in sys.stdin:
        path = json.loads(line)
        try:
            answer = examine(path)
        except (OSError, ValueError, RecursionError, MemoryError) as exc:
            answer = {"problem": "{}: {}".format(type(exc).__name__, exc), "line": 0}
        answer["path"] = path
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def examine(path):
    with open(path, "rb") as handle:
        source = handle.read(LARGEST + 1)
    if len(source) > LARGEST:
        return {"problem": "larger than 1 MiB: not read", "line": 0}
    try:
        tree = ast.parse(source, path)
    except SyntaxError as exc:
        return {"problem": exc.msg or "invalid syntax", "line": exc.lineno or 0, "python2": is_python2(exc)}
    found = Finder()
    found.visit(tree)
    defined = names_of(tree) | found.bound
    old = [(name, line) for name, line in found.loaded if name in PYTHON2 and name not in defined]
    missing = [(name, line) for name, line in found.salt_names() if not in_salt(name)]
    modules = [(name, line) for name, line in found.imports if not can_import(name, os.path.dirname(path))]
    return {
        "functions": sorted(name for name in own_functions(tree) if not name.startswith("_"))[:MOST],
        "old": old[:MOST],
        "missing": missing[:MOST],
        "modules": modules[:MOST],
        "calls": found.calls[:MOST],
    }


def is_python2(exc):
    line = (exc.text or "").strip()
    said = exc.msg or ""
    return (
        "print" in said
        or "exec" in said
        or "octal" in said
        or "multiple exception types" in said
        or line.startswith(("print ", "exec ", "raise "))
        or (line.startswith("except") and "," in line)
        or "<>" in line
        or "ur'" in line
        or 'ur"' in line
    )


class Finder(ast.NodeVisitor):
    """Imports, names that are read, and attributes of the package salt."""

    def __init__(self):
        self.imports = []
        self.from_salt = []
        self.chains = []
        self.loaded = []
        self.bound = set()
        self.calls = []
        self.depth = 0

    def visit_Try(self, node):
        # What is tried may be missing: the file says what it does then.
        soft = any(is_soft(handler.type) for handler in node.handlers)
        self.depth += soft
        for child in node.body:
            self.visit(child)
        self.depth -= soft
        self.depth += bool(node.handlers and soft)
        for child in node.handlers + node.orelse + node.finalbody:
            self.visit(child)
        self.depth -= bool(node.handlers and soft)

    visit_TryStar = visit_Try

    def visit_Import(self, node):
        for alias in node.names:
            self.bound.add((alias.asname or alias.name).split(".")[0])
            if self.depth:
                continue
            if alias.name.split(".")[0] == "salt":
                self.from_salt.append((alias.name, node.lineno))
            else:
                self.imports.append((alias.name.split(".")[0], node.lineno))

    def visit_ImportFrom(self, node):
        for alias in node.names:
            self.bound.add(alias.asname or alias.name)
        if self.depth or node.level or not node.module:
            return
        if node.module.split(".")[0] != "salt":
            self.imports.append((node.module.split(".")[0], node.lineno))
            return
        for alias in node.names:
            name = node.module if alias.name == "*" else node.module + "." + alias.name
            self.from_salt.append((name, node.lineno))

    def visit_Attribute(self, node):
        parts, inner = [node.attr], node.value
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id == "salt" and not self.depth:
            self.chains.append((".".join(["salt"] + parts[::-1]), node.lineno))
        elif not isinstance(inner, ast.Name):
            self.visit(inner)
        else:
            self.visit_Name(inner)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            if not self.depth:
                self.loaded.append((node.id, node.lineno))
        else:
            self.bound.add(node.id)

    def visit_arg(self, node):
        self.bound.add(node.arg)

    def visit_Subscript(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in DUNDERS:
            key = getattr(node.slice, "value", node.slice)
            key = getattr(key, "s", key)
            if isinstance(key, str):
                self.calls.append((node.value.id, key, node.lineno))
        self.generic_visit(node)

    def salt_names(self):
        own = "salt" in self.bound
        return self.from_salt + (self.chains if own else [])


def is_soft(kind):
    if kind is None:
        return True
    parts = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    soft = {"ImportError", "ModuleNotFoundError", "NameError", "AttributeError", "Exception"}
    return any(getattr(part, "id", "") in soft for part in parts)


def own_functions(tree):
    return [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def names_of(tree):
    """What a file defines at its outermost level, in any branch."""
    found, waiting = set(), list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        for part in ast.walk(node) if isinstance(node, (ast.Assign, ast.AnnAssign)) else ():
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                found.add(part.id)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        for field in ("body", "orelse", "finalbody", "handlers"):
            waiting.extend(getattr(node, field, []))
    return found


def in_salt(dotted):
    """Whether our package `salt` has a name: a module, or something that a module defines."""
    parts = dotted.split(".")
    place = HERE
    for at, part in enumerate(parts):
        inner = os.path.join(place, part)
        if os.path.isdir(inner):
            place = inner
            continue
        if os.path.isfile(inner + ".py"):
            return at + 1 == len(parts) or has_name(inner + ".py", parts[at + 1])
        return has_name(os.path.join(place, "__init__.py"), part)
    return True


def has_name(source, name):
    if source not in _exports:
        try:
            with open(source, "rb") as handle:
                _exports[source] = names_of(ast.parse(handle.read(), source))
        except (OSError, SyntaxError):
            _exports[source] = set()
    found = _exports[source]
    return name in found or "__getattr__" in found


def can_import(name, folder):
    if name in sys.builtin_module_names or hasattr(builtins, name):
        return True
    if os.path.exists(os.path.join(folder, name + ".py")) or os.path.isdir(os.path.join(folder, name)):
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


if __name__ == "__main__":
    main()
