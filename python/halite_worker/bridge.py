"""What the rest of the worker and the package `salt` share: the channel, and the call that is being executed."""
import threading

from . import errors, values


class Frame:
    """One call from Halite: who called, and with which options, grains and pillar."""

    def __init__(self, number, kind, data):
        self.number = number
        self.kind = kind
        self.opts = data.get("opts")
        self.grains = data.get("grains")
        self.pillar = data.get("pillar")
        self.extra = data.get("extra") or {}


channel = None
frames = []
context = {}
setup = {}
_answers = {}
_lock = threading.Lock()


def frame():
    return frames[-1] if frames else None


def ask(what, *arguments):
    """A question that Halite answers on behalf of the running call; raises what it raised there."""
    if channel is None:
        raise RuntimeError("this works only inside Halite, not in a Python of its own")
    now = frame()
    kind, value = channel.call("call", now.number if now else 0, what, values.encode(list(arguments)))
    if kind == "failure":
        raise errors.from_halite(value)
    return value


def call(space, name, args=(), kwargs=None):
    """Calls a function of Halite: space is `modules`, `runners`, `wheel` or `states`."""
    now = frame()
    if now is not None and now.kind == "grains" and space == "modules":
        from salt import _calls

        local = _calls.IN_GRAINS.get(name)
        if local is not None:
            return local(*args, **(kwargs or {}))
    return ask("function", space, name, list(args), dict(kwargs or {}))


def has(space, name):
    return remembered(("has", space, name), lambda: ask("has", space, name))


def names(space):
    return remembered(("names", space), lambda: ask("names", space))


def remembered(key, make):
    """Answers that do not change while a job runs."""
    with _lock:
        if key in _answers:
            return _answers[key]
    value = make()
    with _lock:
        _answers[key] = value
    return value


def forget():
    with _lock:
        _answers.clear()


def opts():
    now = frame()
    return now.opts if now and now.opts is not None else {}


def proxy_type():
    """The type of the proxied device; empty on ordinary minions."""
    proxy = opts().get("proxy")
    return (proxy.get("proxytype") or "") if isinstance(proxy, dict) else ""


def grains():
    now = frame()
    return now.grains if now and now.grains is not None else {}


def pillar():
    now = frame()
    return now.pillar if now and now.pillar is not None else {}
