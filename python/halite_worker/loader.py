"""Imports users' files as Salt's loader does: dunders before and after, `__virtual__`, public functions."""
import functools
import importlib.machinery
import importlib.util
import os
import sys
import types

from . import bridge, errors, packs, values

TAGS = {
    "modules": "module",
    "renderers": "render",
    "pillars": "pillar",
    "outputters": "output",
    "proxies": "proxy",
    "rosters": "roster",
}

_files = {}
_utils = {}


class File:
    """One user's file after its import: its functions by the names they are called by, or why it cannot be used."""

    def __init__(self, kind, path, name):
        self.kind = kind
        self.path = path
        self.stem = name
        self.name = name
        self.names = [name]
        self.module = None
        self.functions = {}
        self.reason = None
        self.error = None


def files():
    return list(_files.values())


def get(kind, path, name, version=""):
    """The file, imported once in this process and again when it changed."""
    key = (kind, path, version)
    found = _files.get(key)
    if found is None:
        found = File(kind, path, name)
        _files[key] = found
        _import(found)
    return found


def _import(file):
    try:
        module = _execute(file)
    except (Exception, SystemExit) as exc:
        file.error = errors.describe(exc)
        file.reason = _import_reason(file, exc)
        return
    file.module = module
    packs.apply(file, bridge.frame(), after=True)
    init = getattr(module, "__init__", None)
    if isinstance(init, types.FunctionType):
        try:
            init(bridge.opts())
        except (Exception, SystemExit) as exc:
            file.error = errors.describe(exc)
            file.reason = "its __init__ failed: {}: {}".format(type(exc).__name__, exc)
            return
    _virtual(file)
    if file.reason is None:
        file.functions = _functions(file)


def _import_reason(file, exc):
    if isinstance(exc, SyntaxError):
        text = "{} line {}: {}".format(exc.filename or file.path, exc.lineno, exc.msg)
        return text + _python2(exc)
    shown = str(exc) or type(exc).__name__
    return shown if isinstance(exc, ImportError) else "{}: {}".format(type(exc).__name__, shown)


def _python2(exc):
    line = (exc.text or "").strip()
    old = "print" in (exc.msg or "") or line.startswith("print ") or line.startswith("exec ")
    old = old or ("except" in line and "," in line) or "0777" in line or "ur'" in line or "<>" in line
    if not old:
        return ""
    return " (this is Python 2; Python 3.6 or newer is needed. `python3 -m lib2to3 -w` or `2to3 -w` rewrites most of it)"


def _execute(file):
    package = os.path.isdir(file.path)
    source = os.path.join(file.path, "__init__.py") if package else file.path
    folder = os.path.dirname(file.path)
    for place in [folder] + [path for path in bridge.setup.get("utils", []) if os.path.isdir(path)]:
        if place not in sys.path:
            sys.path.append(place)
    name = "{}.{}".format(_parent(TAGS.get(file.kind, file.kind)), file.stem)
    loader = importlib.machinery.SourceFileLoader(name, source)
    spec = importlib.util.spec_from_file_location(
        name, source, loader=loader, submodule_search_locations=[file.path] if package else None
    )
    module = importlib.util.module_from_spec(spec)
    file.module = module
    packs.apply(file, bridge.frame(), after=False)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        file.module = None
        raise
    return module


def _parent(tag):
    """`salt.loaded.ext.<tag>`: the package that Salt's own loader invents."""
    whole = "salt"
    for part in ("loaded", "ext", tag):
        parent, whole = whole, whole + "." + part
        if whole not in sys.modules:
            package = types.ModuleType(whole)
            package.__path__ = []
            package.__package__ = whole
            sys.modules[whole] = package
            if parent != "salt":
                setattr(sys.modules[parent], part, package)
    return whole


def _virtual(file):
    module = file.module
    virtual = getattr(module, "__virtual__", None)
    if callable(virtual):
        answer, reason = True, None
        try:
            answer = virtual()
        except (Exception, SystemExit) as exc:
            file.error = errors.describe(exc)
            answer, reason = False, "exception: {}: {}".format(type(exc).__name__, exc)
        if isinstance(answer, (tuple, list)) and answer:
            answer, reason = answer[0], str(answer[1]) if len(answer) > 1 else None
        if not answer:
            file.reason = reason or ""
            return
        if answer is True:
            file.name = getattr(module, "__virtualname__", file.stem)
        elif isinstance(answer, str):
            file.name = answer
    aliases = getattr(module, "__virtual_aliases__", ())
    file.names = [file.name] + [str(alias) for alias in ([aliases] if isinstance(aliases, str) else aliases)]


def _functions(file):
    module = file.module
    aliases = getattr(module, "__func_alias__", {})
    found = {}
    for attribute in next((getattr(module, name) for name in ("__load__", "__all__") if hasattr(module, name)), dir(module)):
        if attribute.startswith("_"):
            continue
        value = getattr(module, attribute, None)
        if isinstance(value, (types.FunctionType, functools.partial)) and _is_own(value):
            found[aliases.get(attribute, attribute)] = value
    decorators = sys.modules.get("salt.utils.decorators")
    if decorators is not None:
        decorators.enforce(module, found, aliases)
    return found


def _is_own(value):
    """Functions that a file imported from elsewhere are not its own."""
    return str(getattr(value, "__module__", "")).startswith("salt.loaded")


def describe(file):
    """What Halite has to know of a file: availability, names, functions with their parameters."""
    if file.reason is not None:
        return {"reason": file.reason, "error": file.error}
    outputters = getattr(file.module, "__outputter__", None)
    outputters = outputters if isinstance(outputters, dict) else {}
    return {
        "name": file.name,
        "names": file.names,
        "doc": file.module.__doc__ or "",
        "functions": {name: _describe_function(name, value, outputters) for name, value in file.functions.items()},
        "hooks": [name for name in ("__validate__",) if callable(getattr(file.module, name, None))],
        "proxyenabled": [str(name) for name in _listed(getattr(file.module, "__proxyenabled__", ()))],
    }


def _listed(value):
    return [value] if isinstance(value, str) else list(value)


def _describe_function(name, value, outputters):
    # Only here: a worker that runs functions that are known already does not need it.
    import inspect

    kinds = {"VAR_POSITIONAL": "rest", "KEYWORD_ONLY": "keyword", "VAR_KEYWORD": "kwargs"}
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    listed = []
    for parameter in parameters:
        entry = [parameter.name, kinds.get(parameter.kind.name, "any")]
        if parameter.default is not inspect.Parameter.empty:
            entry.append(values.encode(parameter.default))
        listed.append(entry)
    found = {"params": listed, "doc": getattr(value, "__doc__", None) or ""}
    if isinstance(outputters.get(name), str):
        found["out"] = outputters[name]
    return found


def function(space, full):
    """A function of a user's file by its full name; None when no file of this process has it."""
    module, _, name = full.partition(".")
    for path, stem, version in bridge.setup.get("index", {}).get(space, {}).get(module, []):
        file = get(space, path, stem, version)
        if file.reason is None and module in file.names and name in file.functions:
            return file.functions[name]
    return None


def proxy_function(full):
    """A function of the proxy type whose session this process holds; None in every other process."""
    name, _, function = full.partition(".") if isinstance(full, str) else ("", "", "")
    for file in files():
        if file.kind == "proxies" and file.reason is None and name in file.names and function in file.functions:
            return file.functions[function]
    return None


def made_for_proxy(file):
    """Salt's rule for grains of proxies: the file names the type of the device."""
    kind = bridge.proxy_type()
    if not kind:
        return True
    listed = _listed(getattr(file.module, "__proxyenabled__", ()))
    return "*" in listed or kind in listed


def index_names(space):
    """Full names of all functions of users' files of a kind."""
    found = set()
    for entries in bridge.setup.get("index", {}).get(space, {}).values():
        for path, stem, version in entries:
            file = get(space, path, stem, version)
            if file.reason is None:
                found.update("{}.{}".format(name, function) for name in file.names for function in file.functions)
    return found


def util_module(name):
    """A module of `_utils` by its name or virtual name; None when there is none."""
    if name not in _utils:
        _utils[name] = _find_util(name)
    return _utils[name]


def _find_util(name):
    for folder in bridge.setup.get("utils", []):
        for path, stem in _python_files(folder):
            if stem == name:
                file = get("utils", path, stem)
                if file.reason is None and name in file.names:
                    return file
    for folder in bridge.setup.get("utils", []):
        for path, stem in _python_files(folder):
            file = get("utils", path, stem)
            if file.reason is None and name in file.names:
                return file
    return None


def _python_files(folder):
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith("_"):
            continue
        if name.endswith(".py"):
            yield path, name[:-3]
        elif os.path.isfile(os.path.join(path, "__init__.py")):
            yield path, name
