"""The loop of the worker: loads files, runs functions, renders Python SLS files."""
import builtins
import os
import sys
import types

from . import bridge, channel, errors, loader, logs, packs, printed, values

DEEPEST = 200
_slots = {"opts": {}, "grains": {}, "pillar": {}}


# A call from Halite to Python and back takes a dozen frames.
FRAMES = 12


def main():
    # Files of users read this name, which Salt adds to those of Python.
    builtins.__salt_system_encoding__ = sys.getdefaultencoding()
    sys.setrecursionlimit(sys.getrecursionlimit() + DEEPEST * FRAMES)
    bridge.channel = channel.Channel(3, execute)
    bridge.channel.send(["ready", 0, {"version": list(sys.version_info[:3]), "executable": sys.executable}])
    bridge.channel.serve()


def execute(message):
    kind = message[0]
    if kind == "slot":
        _slots[message[2]][message[3]] = message[4]
    elif kind == "setup":
        bridge.setup = message[2]
        bridge.channel._largest = message[2].get("largest", channel.LARGEST)
        logs.install(message[2].get("logs", {}))
        bridge.forget()
    elif kind == "end":
        _flush()
        sys.exit(0)
    elif kind in ACTIONS:
        _answer(message[1], ACTIONS[kind], message[2], message[3:])


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass


def _answer(number, action, data, rest):
    """Runs one action in its frame and sends what came of it."""
    frame = bridge.Frame(number, data.get("kind", "modules"), _resolve(data))
    if len(bridge.frames) >= DEEPEST:
        text = "calls between Halite and Python nest deeper than {}".format(DEEPEST)
        bridge.channel.send(["failed", number, errors.describe(RecursionError(text))])
        return
    bridge.frames.append(frame)
    try:
        _enter(frame)
        value = action(frame, *rest)
        _flush()
        extras = _extras(frame)
        encoder = values.Encoder(objects=data.get("objects") is True)
        encoded = encoder.encode(value)
        if encoder.strange:
            extras["strange"] = encoder.strange[0]
        message = ["done", number, encoded, extras]
    except (Exception, SystemExit, KeyboardInterrupt) as exc:
        _stop_if_forked()
        _flush()
        message = ["failed", number, errors.describe(exc, nested=len(bridge.frames) > 1)]
    finally:
        bridge.frames.remove(frame)
        _enter(bridge.frame())
    _stop_if_forked()
    try:
        bridge.channel.send(message)
    except (ValueError, RecursionError, MemoryError) as exc:
        bridge.channel.send(["failed", number, errors.describe(exc)])


def _stop_if_forked():
    """A copy that the user's function forked and that returned must not speak for the job."""
    if not bridge.channel.own:
        _flush()
        os._exit(0)


def _resolve(data):
    found = {"extra": data.get("extra")}
    for name, slots in _slots.items():
        found[name] = slots.get(data.get(name))
    opts = found["opts"]
    if isinstance(opts, dict):
        opts["grains"] = found["grains"]
        opts["pillar"] = found["pillar"]
    return found


def _enter(frame):
    """Gives every file that is loaded the data of this call."""
    if frame is None:
        return
    for file in loader.files():
        if file.module is not None and getattr(file, "frame", None) is not frame:
            _switch(file, frame)


def _switch(file, frame):
    now = file.module.__dict__
    before = getattr(file, "frame", None)
    same = before is not None and before.opts is frame.opts and before.grains is frame.grains
    if not same or before.pillar is not frame.pillar or file.kind in ("states", "runners"):
        own_salt = now.get("__salt__") if file.kind == "grains" else None
        packs.apply(file, frame, after=True)
        if own_salt is not None:
            now["__salt__"] = own_salt
    file.frame = frame


def _extras(frame):
    code = bridge.context.get("retcode")
    if frame.kind == "modules" and isinstance(code, int) and code:
        bridge.context["retcode"] = 0
        return {"retcode": code}
    return {}


def load(frame, kind, path, name, version):
    return loader.describe(loader.get(kind, path, name, version))


class Readable(str):
    """What serializers read: Salt gives some of them a text and some an open file."""

    def read(self, size=-1):
        return str(self)


def run(frame, kind, path, name, version, function, args, kwargs):
    file = loader.get(kind, path, name, version)
    if file.reason is not None:
        raise RuntimeError("{}: {}".format(path, file.reason))
    if kind == "executors" and function == "execute":
        # The function of the job, by its name: what is called in Python is callable.
        args[2] = packs.SPACES["modules"][args[2]]
    if kind == "serializers" and function == "deserialize" and isinstance(args[0], str):
        args[0] = Readable(args[0])
    found = file.functions.get(function)
    if found is None:
        found = getattr(file.module, function)
    with printed.lines_of(kind):
        return settle(found(*args, **kwargs))


def settle(value):
    """Generators become what a Salt minion makes of them: one map of all maps, else a list."""
    if not isinstance(value, types.GeneratorType):
        return value
    items = list(value)
    if items and all(isinstance(item, dict) for item in items):
        whole = {}
        for item in items:
            whole.update(item)
        return whole
    return items


def collect(frame, path, name, version):
    """The grains of one file: every public function returns some."""
    import inspect

    file = loader.get("grains", path, name, version)
    if file.reason is not None:
        return {"reason": file.reason, "error": file.error, "grains": {}, "problems": []}
    if not loader.made_for_proxy(file):
        return {"reason": "its __proxyenabled__ does not name " + bridge.proxy_type(), "grains": {}, "problems": []}
    found, problems = {}, []
    for function in file.functions.values():
        kwargs = {}
        try:
            wanted = inspect.signature(function).parameters
            if "grains" in wanted:
                kwargs["grains"] = bridge.grains()
            if "proxy" in wanted:
                kwargs["proxy"] = packs.PROXY if packs.PROXY else None
            part = function(**kwargs)
        except (Exception, SystemExit) as exc:
            problems.append(errors.describe(exc))
            continue
        if isinstance(part, dict):
            found.update(part)
    return {"grains": found, "problems": problems}


def render(frame, renderer, path, text, variables):
    """A text for one of the renderers that run Python."""
    if renderer == "py":
        from . import render_py

        return render_py.render(path, text, variables)
    if renderer == "pyobjects":
        from . import pyobjects

        return pyobjects.render(path, text, variables)
    if renderer == "pydsl":
        from . import pydsl

        return pydsl.render(path, text, variables)
    from . import templates

    return templates.render(renderer, path, text, variables)


ACTIONS = {"load": load, "run": run, "collect": collect, "render": render}
