"""The names that Salt's loader gives to users' files: `__salt__`, `__opts__`, `__grains__` and so on."""
import collections.abc
import importlib

from . import bridge

PACKS = {
    "modules": ("salt", "utils", "states", "proxy", "file_client"),
    "states": ("salt", "utils", "states", "proxy", "serializers", "low", "running", "lowstate", "instance_id", "env"),
    "grains": ("utils", "proxy"),
    "returners": ("salt", "utils", "proxy"),
    "beacons": ("salt", "utils", "proxy"),
    "pillars": ("salt", "utils"),
    "runners": ("salt", "utils", "jid", "user", "tag", "jid_event"),
    "renderers": ("salt", "utils", "states", "proxy"),
    "engines": ("salt", "utils", "runners", "proxy"),
    "utils": ("salt", "utils", "proxy"),
    "auth": ("salt", "utils"),
    "outputters": ("salt", "utils"),
    "proxies": ("salt", "ret", "utils", "proxy"),
    "sdb": ("salt", "utils"),
    "tops": ("utils",),
    "rosters": ("utils", "runner"),
    "executors": ("salt", "utils", "proxy", "executors"),
    "wheel": ("utils",),
    "serializers": (),
}


class CoreFunction:
    """A function that Halite implements; its documentation and parameters are asked for when somebody looks."""

    def __init__(self, space, name):
        self._space = space
        self._name = name
        self.__name__ = name.partition(".")[2] or name
        self.__qualname__ = self.__name__
        self.__module__ = "salt.loaded.int.{}.{}".format(space, name.partition(".")[0])

    def __call__(self, *args, **kwargs):
        return bridge.call(self._space, self._name, args, kwargs)

    def __repr__(self):
        return "<function {} of Halite>".format(self._name)

    @property
    def __doc__(self):
        return self._described().get("doc")

    @property
    def __signature__(self):
        import inspect

        kinds = {"rest": inspect.Parameter.VAR_POSITIONAL, "kwargs": inspect.Parameter.VAR_KEYWORD}
        listed = []
        for entry in self._described().get("params", []):
            kind = kinds.get(entry[1], inspect.Parameter.POSITIONAL_OR_KEYWORD)
            default = entry[2] if len(entry) > 2 and entry[1] not in kinds else inspect.Parameter.empty
            listed.append(inspect.Parameter(entry[0], kind, default=default))
        return inspect.Signature(listed)

    def _described(self):
        key = ("describe", self._space, self._name)
        return bridge.remembered(key, lambda: bridge.ask("describe", self._space, self._name)) or {}


class Functions(collections.abc.MutableMapping):
    """`__salt__`: users' functions of this process first, then everything that Halite has."""

    def __init__(self, space):
        self._space = space
        self._own = {}
        self._core = {}

    def __getitem__(self, name):
        if name in self._own:
            return self._own[name]
        from . import loader

        found = loader.function(self._space, name) if isinstance(name, str) else None
        if found is None:
            found = self._core.get(name)
        if found is None:
            if not isinstance(name, str) or not bridge.has(self._space, name):
                raise KeyError(name)
            found = self._core[name] = CoreFunction(self._space, name)
        return found

    def __contains__(self, name):
        try:
            self[name]
        except KeyError:
            return False
        return True

    def __setitem__(self, name, value):
        self._own[name] = value

    def __delitem__(self, name):
        del self._own[name]

    def __iter__(self):
        from . import loader

        return iter(sorted(set(bridge.names(self._space)) | loader.index_names(self._space) | set(self._own)))

    def __len__(self):
        return len(list(iter(self)))

    def __getattr__(self, module):
        if module.startswith("_"):
            raise AttributeError(module)
        return _Module(self, module)

    def copy(self):
        return {name: self[name] for name in self}


class _Module:
    """`__salt__.cmd.run`."""

    def __init__(self, functions, module):
        self._functions = functions
        self._module = module

    def __getattr__(self, name):
        try:
            return self._functions["{}.{}".format(self._module, name)]
        except KeyError:
            raise AttributeError(name)


class Utils(collections.abc.Mapping):
    """`__utils__`: files of `_utils`, else functions of `salt.utils`."""

    def __getitem__(self, name):
        from . import loader

        module, _, function = name.partition(".")
        file = loader.util_module(module)
        if file is not None and function in file.functions:
            return file.functions[function]
        try:
            found = getattr(importlib.import_module("salt.utils." + module), function, None)
        except ImportError:
            found = None
        if not callable(found):
            raise KeyError(name)
        return found

    def __contains__(self, name):
        try:
            self[name]
        except KeyError:
            return False
        return True

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __getattr__(self, module):
        if module.startswith("_"):
            raise AttributeError(module)
        return _Module(self, module)


class Fetched(collections.abc.MutableMapping):
    """A mapping that is fetched when somebody looks into it: results of a whole run are large."""

    def __init__(self, what):
        self._what = what
        self._data = None

    def _all(self):
        if self._data is None:
            self._data = bridge.ask(self._what) or {}
        return self._data

    def __getitem__(self, key):
        return self._all()[key]

    def __setitem__(self, key, value):
        self._all()[key] = value

    def __delitem__(self, key):
        del self._all()[key]

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._all())


class FetchedList(collections.abc.Sequence):
    """The same for a list."""

    def __init__(self, what):
        self._what = what
        self._data = None

    def _all(self):
        if self._data is None:
            self._data = bridge.ask(self._what) or []
        return self._data

    def __getitem__(self, key):
        return self._all()[key]

    def __len__(self):
        return len(self._all())


class Proxy(collections.abc.Mapping):
    """`__proxy__['type.function']`: the device of a proxy minion. Empty on other minions."""

    def __getitem__(self, name):
        from . import loader

        own = loader.proxy_function(name)
        if own is not None:
            return own
        if not isinstance(name, str) or not bridge.proxy_type() or not bridge.ask("proxy_has", name):
            raise KeyError(name)
        return lambda *args, **kwargs: bridge.ask("proxy", name, list(args), dict(kwargs))

    def __contains__(self, name):
        try:
            self[name]
        except KeyError:
            return False
        return True

    def __iter__(self):
        return iter(bridge.ask("proxy_names") if bridge.proxy_type() else ())

    def __len__(self):
        return len(list(iter(self)))

    def __bool__(self):
        return bool(bridge.proxy_type())

    @property
    def opts(self):
        return bridge.opts()


PROXY = Proxy()
SPACES = {name: Functions(name) for name in ("modules", "runners", "wheel", "states")}
UTILS = Utils()


def salt_of(kind):
    return SPACES["runners"] if kind in ("runners", "rosters") else SPACES["modules"]


def _pack(kind, frame):
    extra = frame.extra if frame else {}
    return {
        "salt": salt_of(kind),
        "utils": UTILS,
        "states": SPACES["states"],
        "runner": SPACES["runners"],
        "runners": SPACES["runners"],
        "proxy": PROXY,
        "executors": Executors(),
        "ret": {},
        "file_client": None,
        "serializers": Serializers(),
        "low": extra.get("low", {}),
        "running": Fetched("running"),
        "lowstate": FetchedList("lowstate"),
        "instance_id": extra.get("instance_id", ""),
        "env": extra.get("env", "base"),
        "jid": extra.get("jid", ""),
        "user": extra.get("user", ""),
        "tag": extra.get("tag", ""),
        "jid_event": JobEvent(),
    }


class Serializers(collections.abc.Mapping):
    """`__serializers__['yaml.serialize']`: users' files first, as everywhere."""

    HERE = ("json", "yaml", "yamlex")
    CORE = ("configparser", "keyvalue", "msgpack", "plist", "python", "toml")

    def __getitem__(self, name):
        from . import loader

        found = loader.function("serializers", name) if isinstance(name, str) else None
        if found is not None:
            return found
        if name not in self._built_in():
            raise KeyError(name)
        module, _, function = name.partition(".")
        if module in self.HERE:
            return getattr(importlib.import_module("salt.serializers." + module), function)

        def run(data, **options):
            return bridge.call("modules", "slsutil." + function, [module, data], options)

        return run

    def __contains__(self, name):
        from . import loader

        return name in self._built_in() or (isinstance(name, str) and loader.function("serializers", name) is not None)

    def _built_in(self):
        return {
            "{}.{}".format(module, function)
            for module in self.HERE + self.CORE
            for function in ("serialize", "deserialize")
            if (module, function) != ("python", "deserialize")
        }

    def __iter__(self):
        from . import loader

        return iter(sorted(self._built_in() | loader.index_names("serializers")))

    def __len__(self):
        return len(list(iter(self)))

    def __getattr__(self, module):
        if module.startswith("_"):
            raise AttributeError(module)
        return _Module(self, module)


class Executors(collections.abc.Mapping):
    """`__executors__['direct_call.execute']`, with which an executor runs the function of the job after all."""

    _known = {"direct_call.execute": lambda opts, data, func, args, kwargs: func(*args, **kwargs)}

    def __getitem__(self, name):
        return self._known[name]

    def __iter__(self):
        return iter(self._known)

    def __len__(self):
        return len(self._known)


class JobEvent:
    """`__jid_event__` of runners: progress for the operator."""

    def fire_event(self, data, outputter="pprint"):
        bridge.ask("progress", data if isinstance(data, str) else str(data))


def apply(file, frame, after):
    """Sets the names in a module. Files of grains may have names of their own after their import."""
    module = file.module
    now = module.__dict__
    kind = file.kind
    for name, value in (("opts", bridge.opts()), ("grains", bridge.grains()), ("pillar", bridge.pillar()),
                        ("context", bridge.context)):
        now["__" + name + "__"] = value
    values = _pack(kind, frame)
    for name in PACKS.get(kind, ("salt", "utils")):
        now["__" + name + "__"] = values[name]
    if not after and kind == "grains":
        now["__salt__"] = values["salt"]
    file.frame = frame
