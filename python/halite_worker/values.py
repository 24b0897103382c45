"""Values on the pipe: JSON, with marked maps for what JSON lacks. The counterpart is src/engine/python/marks.ts."""
import base64
import collections.abc
import datetime
import json
import math
import os
import sys
import types
from collections import OrderedDict

MARK = "\x01"
EXACT = 2 ** 53
DEEPEST = 250
# Objects in one value for a template, their attributes, and objects that templates may hand back.
MOST_OBJECTS = 1000
MOST_ATTRIBUTES = 200
MOST_KEPT = 10000
_objects = OrderedDict()


class Encoder:
    """Encodes one value; `strange` names the types that could only be passed as their repr."""

    def __init__(self, objects=False):
        self.strange = []
        self._room = MOST_OBJECTS if objects else 0
        self._inside = set()

    def encode(self, value, depth=0):
        kind = type(value)
        if value is None or kind is str or kind is bool:
            return value
        if kind is int:
            return value if -EXACT < value < EXACT else {MARK + "i": str(value)}
        if kind is float:
            if math.isfinite(value) and not value.is_integer():
                return value
            return {MARK + "f": repr(value)}
        if depth > DEEPEST:
            raise ValueError("the value nests deeper than {} levels".format(DEEPEST))
        if kind is dict:
            return self._mapping(value, depth)
        if kind is list or kind is tuple:
            return [self.encode(item, depth + 1) for item in value]
        return self._other(value, depth)

    def _mapping(self, value, depth):
        items = [(self._key(key), item) for key, item in value.items()]
        if all(type(key) is str and key[:1] != MARK and not _is_index(key) for key, _ in items):
            return {key: self.encode(item, depth + 1) for key, item in items}
        return {MARK + "m": [[self.encode(key, depth + 1), self.encode(item, depth + 1)] for key, item in items]}

    @staticmethod
    def _key(key):
        return str.__str__(key) if isinstance(key, str) else key

    def _other(self, value, depth):
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return self.encode(int(value), depth)
        if isinstance(value, float):
            return self.encode(float(value), depth)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {MARK + "b": base64.b64encode(bytes(value)).decode("ascii")}
        if isinstance(value, collections.abc.Mapping):
            return self._mapping(value, depth)
        if isinstance(value, (set, frozenset)):
            return [self.encode(item, depth + 1) for item in _sorted(value)]
        if isinstance(value, (datetime.datetime, datetime.date)):
            return {MARK + "d": value.isoformat()}
        if isinstance(value, (BaseException,) + _shown_as_text()):
            return str(value)
        if isinstance(value, (collections.abc.Iterator, collections.abc.Sequence, collections.abc.ValuesView,
                              collections.abc.KeysView, collections.abc.ItemsView)):
            return [self.encode(item, depth + 1) for item in value]
        if self._room > 0 and id(value) not in self._inside and not callable(value):
            return self._object(value, depth)
        self.strange.append(kind_name(value))
        return repr(value)

    def _object(self, value, depth):
        """For templates: the attributes as they are now, and a name by which the object itself can be had again."""
        self._room -= 1
        self._inside.add(id(value))
        try:
            attributes = self._mapping(_attributes(value), depth + 1)
            return {MARK + "o": [_kept(value), str(value), type(value).__name__, attributes]}
        finally:
            self._inside.discard(id(value))


def _kept(value):
    handle = "{}:{}".format(os.getpid(), id(value))
    _objects[handle] = value
    if len(_objects) > MOST_KEPT:
        _objects.popitem(last=False)
    return handle


def _handed_back(pair):
    """The object itself, or its text in another process."""
    handle, text = pair
    return _objects.get(handle, text)


def _attributes(value):
    """Public data of an object and of its class; a property that raises is left out."""
    found = {}
    for name in dir(value):
        if name.startswith("_") or len(found) >= MOST_ATTRIBUTES:
            continue
        try:
            item = getattr(value, name)
        except Exception:
            continue
        if not callable(item) and not isinstance(item, types.ModuleType):
            found[name] = item
    return found


def _shown_as_text():
    """Classes of modules that are only imported when somebody has made such a value."""
    found = []
    for module, name in (("decimal", "Decimal"), ("pathlib", "PurePath"), ("uuid", "UUID")):
        if module in sys.modules:
            found.append(getattr(sys.modules[module], name))
    return tuple(found)


def kind_name(value):
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else "{}.{}".format(kind.__module__, kind.__name__)


def _is_index(key):
    """JavaScript moves such keys to the front of an object."""
    return key[:1].isdigit() and len(key) <= 10 and key.isdigit()


def _sorted(value):
    try:
        return sorted(value)
    except TypeError:
        return list(value)


def encode(value):
    return Encoder().encode(value)


def _from_map(pairs):
    found = {}
    for key, value in pairs:
        found[tuple(key) if isinstance(key, list) else key] = value
    return found


def _from_date(text):
    form = "%Y-%m-%dT%H:%M:%S.%f" if "." in text else "%Y-%m-%dT%H:%M:%S"
    return datetime.datetime.strptime(text.rstrip("Z"), form)


_DECODERS = {
    "i": int,
    "f": float,
    "b": base64.b64decode,
    "m": _from_map,
    "d": _from_date,
    "o": _handed_back,
}


def _hook(found):
    if len(found) == 1:
        key = next(iter(found))
        if key[:1] == MARK and key[1:] in _DECODERS:
            return _DECODERS[key[1:]](found[key])
    return found


_decoder = json.JSONDecoder(object_hook=_hook)


def loads(text):
    return _decoder.decode(text)


def dumps(tree):
    return json.dumps(tree, separators=(",", ":"))
