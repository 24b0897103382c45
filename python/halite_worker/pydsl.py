"""`#!pydsl`: `state(id).module.function(…)`."""
from collections import OrderedDict

from . import render_py


class PyDslError(Exception):
    pass


class Sls:
    """The declarations of one file."""

    def __init__(self, names):
        self._names = names
        self._declarations = OrderedDict()
        self._includes = []
        self._extends = []
        self._options = {"ordered": False}
        self._last = None
        self._count = 0

    def set(self, **options):
        self._options.update(options)

    def include(self, *names, **kwargs):
        self._includes.extend(names)

    def extend(self, *states):
        for state in states:
            self._extends.append(state)
            self._declarations.pop(state._id, None)

    def state(self, id=None):
        if id is None:
            self._count += 1
            id = ".{}_{}".format(self._names.get("sls", ""), self._count)
        if id not in self._declarations:
            self._declarations[id] = Declaration(id, self)
        return self._declarations[id]

    def ordered(self, function):
        if not self._options["ordered"]:
            return
        if self._last is not None:
            function.require(self._last)
        self._last = function

    def data(self):
        found = OrderedDict()
        if self._includes:
            found["include"] = [{env: name} if env else name for env, name in
                                (item if isinstance(item, tuple) else (None, item) for item in self._includes)]
        if self._extends:
            found["extend"] = OrderedDict((state._id, state._data()) for state in self._extends)
        found.update((id_, state._data()) for id_, state in self._declarations.items())
        return found


class Declaration:
    """One id with its states."""

    def __init__(self, id, sls):
        self._id, self._sls, self._modules = id, sls, OrderedDict()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._modules.setdefault(name, Module(name, self))

    def __call__(self):
        raise PyDslError("states cannot be run while the file is rendered; use a requisite, or cmd.run through __salt__")

    def _data(self):
        return OrderedDict((name, module._data()) for name, module in self._modules.items())


class Module:
    """A state module of an id: its attributes are functions and requisites."""

    def __init__(self, name, declaration):
        self._name, self._declaration, self._function, self._specs = name, declaration, None, []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Function(self, name)

    def _data(self):
        return ([self._function] if self._function else []) + self._specs

    def _reference(self):
        return {self._name: self._declaration._id}


class Function:
    """Calls give arguments; requisites follow in a chain."""

    REQUISITES = set("require watch use listen onchanges onfail prereq require_in watch_in use_in listen_in onchanges_in "
                     "onfail_in prereq_in require_any watch_any".split())

    def __init__(self, module, name):
        self._module, self._name = module, name

    def __call__(self, *args, **kwargs):
        module = self._module
        if self._name in self.REQUISITES:
            self._add(self._name, args)
            return module._handle
        if self._name == "call" and args and callable(args[0]):
            raise PyDslError("{}.call with a function of Python is not supported".format(module._name))
        module._function = self._name
        given = dict(zip(("name",), args))
        given.update(kwargs)
        module._specs.extend({key: value} for key, value in given.items())
        module._handle = Handle(module)
        module._declaration._sls.ordered(module._handle)
        return module._handle

    def _add(self, kind, references):
        Handle(self._module)._requisite(kind, references)


class Handle:
    """What a declared function gives: requisites, other modules of the same id, configuration."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        if name in Function.REQUISITES:
            def add(*references, **named):
                listed = list(references) + [{key: value} for key, value in named.items()]
                return self._requisite(name, listed)
            return add
        return getattr(self._module._declaration, name)

    def configure(self, *args):
        self._module._specs.extend(args)
        return self

    def _requisite(self, kind, references):
        listed = []
        for reference in references:
            if isinstance(reference, Handle):
                reference = reference._module
            if isinstance(reference, Declaration):
                listed.extend(module._reference() for module in reference._modules.values())
            else:
                listed.append(reference._reference() if isinstance(reference, Module) else reference)
        for spec in self._module._specs:
            if kind in spec:
                spec[kind].extend(listed)
                return self
        self._module._specs.append({kind: listed})
        return self


def render(path, text, variables):
    sls = Sls(variables)
    scope = render_py.names(variables)
    scope.update(state=sls.state, include=sls.include, extend=sls.extend, __pydsl__=sls)
    exec(render_py.compiled(path, text), scope)
    return sls.data()
