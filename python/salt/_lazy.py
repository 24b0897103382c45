"""Packages whose parts are imported when somebody looks at them, and the sentence for what is not there."""
import importlib
import importlib.abc
import sys
import types

HELP = ("{} is not part of Halite's Python library. Ask for it, or call the function through __salt__ "
        "(docs/guide/your-python.md)")


class LazyPackage(types.ModuleType):
    """Looks for a name among the moved names, then among the modules of the package."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        moved = self.__dict__.get("MOVED", {}).get(name)
        if moved is not None:
            module, _, attribute = moved.rpartition(":")
            value = getattr(importlib.import_module(module), attribute or name)
        else:
            whole = "{}.{}".format(self.__name__, name)
            try:
                value = importlib.import_module(whole)
            except ImportError as exc:
                if getattr(exc, "name", None) not in (whole, None):
                    raise
                raise AttributeError(HELP.format(whole))
        self.__dict__[name] = value
        return value


class _Missing(importlib.abc.MetaPathFinder):
    """The last finder: only what no other one knows arrives here."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith("salt.") and not fullname.startswith("salt.loaded"):
            raise ModuleNotFoundError(HELP.format(fullname), name=fullname)
        return None


def lazy(name):
    sys.modules[name].__class__ = LazyPackage
    if not any(isinstance(finder, _Missing) for finder in sys.meta_path):
        sys.meta_path.append(_Missing())
