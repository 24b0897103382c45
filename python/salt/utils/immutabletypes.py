"""Maps and lists that nobody changes."""
import copy
from collections.abc import Mapping, Sequence


class ImmutableDict(Mapping):
    def __init__(self, obj):
        self._obj = obj

    def __len__(self):
        return len(self._obj)

    def __iter__(self):
        return iter(self._obj)

    def __getitem__(self, key):
        return freeze(self._obj[key])

    def copy(self):
        return copy.deepcopy(self._obj)


class ImmutableList(Sequence):
    def __init__(self, obj):
        self._obj = obj

    def __len__(self):
        return len(self._obj)

    def __getitem__(self, key):
        return freeze(self._obj[key])

    def copy(self):
        return copy.deepcopy(self._obj)


def freeze(obj):
    if isinstance(obj, dict):
        return ImmutableDict(obj)
    if isinstance(obj, list):
        return ImmutableList(obj)
    return frozenset(obj) if isinstance(obj, set) else obj
