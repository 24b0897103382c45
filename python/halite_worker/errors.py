"""Exceptions on their way out, with a trace that begins in the user's file, and failures of Halite on their way in."""
import builtins
import os
import traceback
from collections import OrderedDict

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
KEPT = 32
# Frames of a trace, from its end: calls through Halite and back make it long.
DEEPEST = 200

_passed = OrderedDict()
_described = {}
_last = 0


def describe(exc, nested=False):
    """
    What Halite is told about an exception; `ref` finds the same object when it comes back. On its way through nested calls
    the first description is used again: a trace of hundreds of frames for each level would take seconds.
    """
    global _last
    known = _described.get(id(exc))
    if known is not None and _passed.get(known["ref"]) is exc and nested:
        return known
    _last += 1
    _passed[_last] = exc
    while len(_passed) > KEPT:
        _described.pop(id(_passed.popitem(last=False)[1]), None)
    file, line, source = _place(exc)
    found = {
        "type": type(exc).__name__,
        "bases": [base.__name__ for base in type(exc).__mro__],
        "message": _text(exc),
        "trace": trace_of(exc),
        "file": file,
        "line": line,
        "source": source,
        "ref": _last,
    }
    if isinstance(exc, SystemExit):
        found["status"] = exc.code if isinstance(exc.code, int) else (0 if exc.code is None else 1)
    _described[id(exc)] = found
    return found


def _text(exc):
    try:
        return str(exc)
    except Exception as broken:  # a broken __str__ of the user
        return "<{}: its text cannot be made: {}>".format(type(exc).__name__, type(broken).__name__)


def _place(exc):
    if isinstance(exc, SyntaxError):
        return exc.filename, exc.lineno, (exc.text or "").strip()
    for entry in reversed(_stack(exc)):
        return entry.filename, entry.lineno, entry.line
    return None, None, None


def _stack(exc):
    return [entry for entry in traceback.extract_tb(exc.__traceback__, limit=-DEEPEST) if not _ours(entry.filename)]


def _ours(filename):
    return filename.startswith(HERE) or filename.startswith("<frozen importlib")


def trace_of(exc):
    """Python's own text of the trace, without the frames of the worker."""
    try:
        whole = traceback.TracebackException(type(exc), exc, exc.__traceback__, limit=-DEEPEST)
        _clean(whole, set())
        return "".join(whole.format())
    except Exception:
        return "".join(traceback.format_exception_only(type(exc), exc))


def _clean(found, seen):
    if found is None or id(found) in seen:
        return
    seen.add(id(found))
    if found.stack is not None:
        found.stack[:] = [entry for entry in found.stack if not _ours(entry.filename)]
    _clean(found.__cause__, seen)
    _clean(found.__context__, seen)


def from_halite(failure):
    """The exception that stands for a failure: the same object when it came from here."""
    ref = failure.get("ref")
    if ref is not None and ref in _passed:
        return _passed[ref]
    kind = failure.get("type") or "SaltException"
    message = failure.get("message") or ""
    import salt.exceptions

    cls = getattr(salt.exceptions, kind, None) or getattr(builtins, kind, None)
    if not (isinstance(cls, type) and issubclass(cls, Exception)):
        cls = salt.exceptions.SaltException
    try:
        return cls(message)
    except Exception:
        return salt.exceptions.SaltException(message)
