"""`#!py`: the file is a Python module whose `run()` gives the data."""
import linecache
import os
import types

from . import bridge, packs


def names(variables):
    """What every Python text finds: Salt's names, with and without underscores."""
    found = dict(variables)
    base = {
        "salt": packs.SPACES["modules"],
        "opts": bridge.opts(),
        "grains": bridge.grains(),
        "pillar": bridge.pillar(),
        "proxy": {},
    }
    for name, value in base.items():
        found.setdefault(name, value)
        found["__{}__".format(name)] = value
    found["__context__"] = bridge.context
    found["__utils__"] = packs.UTILS
    found["__states__"] = packs.SPACES["states"]
    found["__sls__"] = variables.get("sls", "")
    found["__env__"] = variables.get("saltenv", "base")
    found.setdefault("env", variables.get("saltenv", "base"))
    return found


def compiled(path, text):
    """The text as code whose traces show its lines, with its `#!` line kept as a comment."""
    shown = path or "<text>"
    linecache.cache[shown] = (len(text), None, text.splitlines(True), shown)
    return compile(text, shown, "exec")


def render(path, text, variables):
    module = types.ModuleType(os.path.splitext(os.path.basename(path or "template"))[0])
    module.__file__ = path
    module.__dict__.update(names(variables))
    exec(compiled(path, text), module.__dict__)
    run = module.__dict__.get("run")
    if not callable(run):
        raise AttributeError("{} has no function run()".format(path or "the text"))
    return run()
