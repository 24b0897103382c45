"""What real Salt makes of extension files: `python extension-files.py scenes.json results.json`, with a Python that has Salt."""
import inspect
import json
import logging
import os
import signal
import sys

import salt
import salt.config
import salt.loader
from salt.loader.lazy import LazyLoader

LIMIT = 300
CORE = os.path.dirname(salt.__file__)
# Folder below extension_modules → tag of the loader, where they differ.
TAGS = {"modules": "module", "renderers": "render", "grains": "grain", "returners": "returner"}


def loader_of(kind, opts):
    utils = salt.loader.utils(opts)
    functions = salt.loader.minion_mods(opts, utils=utils)
    if kind == "modules":
        return functions
    if kind == "states":
        return salt.loader.states(opts, functions, utils, salt.loader.serializers(opts))
    if kind == "runners":
        return salt.loader.runner(opts, utils=utils)
    pack = {"__salt__": functions, "__utils__": utils, "__opts__": opts, "__context__": {}}
    own = [os.path.join(opts["extension_modules"], kind)]
    # Salt has no folder of its own for these below its base.
    dirs = own if kind == "wrapper" else salt.loader._module_dirs(opts, kind, TAGS.get(kind, kind))
    return LazyLoader(dirs, opts, tag=TAGS.get(kind, kind), pack=pack)


def examine(loader, stem):
    if stem not in loader.file_mapping:
        return {"state": "fails", "reason": "Salt does not take a file of this name"}
    before = set(loader._dict)
    loaded = loader._load_module(stem)
    why = loader.missing_modules.get(stem)
    if not loaded:
        if isinstance(why, BaseException):
            return {"state": "fails", "reason": "{}: {}".format(type(why).__name__, why)}
        return {"state": "refuses", "reason": str(why if why is not None else "__virtual__ is false")}
    found = {name: loader._dict[name] for name in set(loader._dict) - before}
    own = {name: described(function) for name, function in found.items() if is_own(function)}
    return {"state": "loads", "functions": own}


def is_own(function):
    return str(getattr(function, "__module__", "")).startswith("salt.loaded.ext")


def described(function):
    try:
        parameters = inspect.signature(function).parameters.items()
    except (TypeError, ValueError):
        parameters = []
    listed = [[name, parameter.kind.name] for name, parameter in parameters]
    required = [name for name, parameter in parameters if parameter.default is parameter.empty]
    return {"params": listed, "required": required, "doc": function.__doc__ or ""}


def in_child(loader, stem):
    """Each file in a process of its own: some end it, some change what others import."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT)
        try:
            found = examine(loader, stem)
        except BaseException as exc:
            found = {"state": "fails", "reason": "{}: {}".format(type(exc).__name__, exc)}
        with os.fdopen(writer, "w") as handle:
            json.dump(found, handle)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as handle:
        text = handle.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"state": "fails", "reason": "its process ended"}


def is_copy(kind, stem):
    base = os.path.join(CORE, kind, stem)
    return os.path.exists(base + ".py") or os.path.exists(os.path.join(base, "__init__.py"))


def main():
    logging.disable(logging.CRITICAL)
    with open(sys.argv[1]) as handle:
        scenes = json.load(handle)
    base = salt.config.minion_config(None)
    base.update(id="survey", file_client="local", grains=scenes["grains"], pillar={}, module_dirs=[], features={})
    results = []
    for scene in scenes["scenes"]:
        opts = dict(base, extension_modules=scene["folder"], cachedir=scene["cache"], utils_dirs=[os.path.join(scene["folder"], "utils")])
        loaders = {}
        for kind, stem in scene["files"]:
            if kind not in loaders:
                loaders[kind] = loader_of(kind, opts)
            found = in_child(loaders[kind], stem)
            results.append(dict(found, copy=is_copy(kind, stem)))
    with open(sys.argv[2], "w") as handle:
        json.dump({"version": salt.version.__version__, "python": "{}.{}".format(*sys.version_info), "results": results}, handle)


main()
