"""`#!pyobjects`: states as objects of Python."""
import re
from collections import OrderedDict

from . import bridge, packs, render_py

REQUISITES = ("listen", "onchanges", "onfail", "require", "require_any", "watch", "watch_any", "use", "prereq", "onchanges_any",
              "onfail_any", "onfail_all", "onchanges_all")
REQUISITES = REQUISITES + tuple(name + "_in" for name in REQUISITES)
FROM = re.compile(r"^(?P<space>\s*)from\s+(?P<url>salt://\S+)\s+import\s+(?P<names>.+?)\s*$")
IMPORT = re.compile(r"^(?P<space>\s*)import\s+(?P<url>salt://\S+)\s*$")


class StateException(Exception):
    pass


class DuplicateState(StateException):
    pass


class InvalidFunction(StateException):
    pass


class Registry:
    """The states of one file in their order."""

    def __init__(self):
        self.states = OrderedDict()
        self.includes = []
        self.extends = OrderedDict()
        self.open = []

    def include(self, *names):
        for name in names:
            self.includes.extend(name if isinstance(name, (list, tuple)) else [name])

    def extend(self, state):
        """Moves a state that was just declared to the extensions."""
        self.states[state.id].pop(state.full)
        if not self.states[state.id]:
            del self.states[state.id]
        self.extends.setdefault(state.id, OrderedDict())[state.full] = state.attrs

    def add(self, state):
        declared = self.states.setdefault(state.id, OrderedDict())
        if state.full in declared:
            raise DuplicateState("A state with id '{}', type '{}' exists".format(state.id, state.full))
        for requisite in self.open:
            before = state.kwargs.get(requisite.kind, [])
            state.kwargs[requisite.kind] = (before if isinstance(before, list) else [before]) + [requisite]
        declared[state.full] = state.attrs

    def data(self):
        found = OrderedDict()
        if self.includes:
            found["include"] = list(self.includes)
        if self.extends:
            found["extend"] = self.extends
        found.update(self.states)
        return found


class Requisite:
    """`Pkg('nginx')`: as the value of a requisite, or for all states inside of `with`."""

    def __init__(self, registry, module, id_, kind="require"):
        self._registry, self.module, self.id, self.kind = registry, module, id_, kind

    def __call__(self):
        return {self.module: self.id}

    def __enter__(self):
        self._registry.open.append(self)

    def __exit__(self, kind, value, trace):
        self._registry.open.remove(self)


class State:
    """A declared state; inside of `with` the following ones require it."""

    def __init__(self, registry, module, function, id_, kwargs):
        self._registry, self.module, self.id, self.kwargs = registry, module, id_, dict(kwargs)
        self.full = "{}.{}".format(module, function)
        registry.add(self)

    @property
    def attrs(self):
        found = []
        for key in sorted(self.kwargs):
            value = self.kwargs[key]
            if key in REQUISITES:
                listed = value if isinstance(value, list) else [value]
                value = [item() if isinstance(item, (Requisite, State)) else item for item in listed]
            found.append({key: value})
        return found

    def __call__(self):
        return {self.module: self.id}

    def __enter__(self):
        self._with = Requisite(self._registry, self.module, self.id)
        self._with.__enter__()
        return self

    def __exit__(self, *failure):
        self._with.__exit__(*failure)


class Factory:
    """`File`: its attributes declare states."""

    def __init__(self, registry, module):
        self._registry, self._module = registry, module

    def __getattr__(self, function):
        if function.startswith("__"):
            raise AttributeError(function)
        name = function[:-1] if function.endswith("_") else function
        full = "{}.{}".format(self._module, name)
        if not bridge.has("states", full):
            raise InvalidFunction("The function '{}' does not exist for the StateFactory for '{}'".format(name, self._module))
        return lambda id_, **kwargs: State(self._registry, self._module, name, id_, kwargs)

    def __call__(self, id_, requisite="require"):
        return Requisite(self._registry, self._module, id_, requisite)


class _MapMeta(type):
    """Chooses the values of the classes inside that match a grain, as the map of a formula does."""

    def __init__(cls, name, bases, attrs):
        super().__init__(name, bases, attrs)
        if name == "Map":
            return
        inner = [value for value in attrs.values() if isinstance(value, type)]
        merge = attrs.get("merge")
        cls.__items__ = OrderedDict((key, value) for key, value in attrs.items()
                                    if not key.startswith("_") and not isinstance(value, type) and key != "merge")
        for part in sorted(inner, key=lambda item: int(getattr(item, "priority", 1000))):
            grain = str(bridge.grains().get(getattr(part, "__grain__", "os_family"), ""))
            if _matches(str(getattr(part, "__match__", part.__name__)), grain):
                cls.__items__.update((key, value) for key, value in part.__dict__.items()
                                     if not key.startswith("_") and key != "priority")
        if merge:
            over = packs.SPACES["modules"]["pillar.get"](merge)
            if isinstance(over, dict):
                cls.__items__.update((key, value) for key, value in over.items() if not str(key).startswith("_"))
        for key, value in cls.__items__.items():
            setattr(cls, key, value)

    def items(cls):
        return cls.__items__.items()

    def keys(cls):
        return cls.__items__.keys()

    def values(cls):
        return cls.__items__.values()


def _matches(pattern, value):
    import fnmatch

    return fnmatch.fnmatchcase(value, pattern) or bool(re.match("(?:{})$".format(pattern), value)) if pattern else False


class Map(metaclass=_MapMeta):
    """The base of maps."""


def _camel(module):
    return "".join(part.capitalize() for part in module.split("_"))


def _snake(name):
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _code_names(code):
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _code_names(constant)
    return found


def _scope(variables, registry):
    salt = packs.SPACES["modules"]
    scope = render_py.names(variables)
    scope.update(
        include=registry.include, extend=registry.extend, salt=salt, Map=Map, StateFactory=lambda name, **kw: Factory(registry, name),
        pillar=lambda key, default="", **kw: salt["pillar.get"](key, default, **kw),
        grains=lambda key, default="", **kw: salt["grains.get"](key, default, **kw),
        mine=lambda *args, **kw: salt["mine.get"](*args, **kw),
        config=lambda key, default="", **kw: salt["config.get"](key, default, **kw),
    )
    return scope


def _run(path, text, scope, registry, saltenv):
    lines = []
    for line in text.splitlines():
        lines.append(_imported(line, scope, registry, saltenv))
    code = render_py.compiled(path, "\n".join(lines) + "\n")
    for name in _code_names(code):
        if name not in scope and re.match(r"[A-Z][A-Za-z0-9]*$", name) and _camel(_snake(name)) == name:
            scope[name] = Factory(registry, _snake(name))
    exec(code, scope)


def _imported(line, scope, registry, saltenv):
    """`from salt://map.sls import Samba`: the names of another file; its line becomes `pass`."""
    wanted, whole = FROM.match(line), IMPORT.match(line)
    if not wanted and not whole:
        return line
    found = wanted or whole
    url = found.group("url")
    path = packs.SPACES["modules"]["cp.cache_file"](url, saltenv)
    if not path:
        raise ImportError("Could not find the file '{}'".format(url))
    inner = dict(scope)
    inner.pop("__builtins__", None)
    with open(path, encoding="utf-8") as handle:
        _run(path, handle.read(), inner, registry, saltenv)
    if whole:
        scope.update((key, value) for key, value in inner.items() if key not in scope)
    else:
        for part in wanted.group("names").strip("()").split(","):
            name, _, shown = part.strip().partition(" as ")
            if name.strip() not in inner:
                raise ImportError("'{}' was not found in {}".format(name.strip(), url))
            scope[(shown or name).strip()] = inner[name.strip()]
    return found.group("space") + "pass"


def render(path, text, variables):
    registry = Registry()
    _run(path, text, _scope(variables, registry), registry, variables.get("saltenv", "base"))
    return registry.data()
