"""Data that nobody can change by mistake."""
import copy
from collections.abc import Mapping, Sequence, Set


class _Frozen:
    """What there is of all kinds: the data below, and a copy of it that can be changed."""

    def __init__(self, obj):
        self._below = obj

    def __len__(self):
        return len(self._below)

    def __iter__(self):
        return iter(self._below)

    def __getitem__(self, key):
        return freeze(self._below[key])

    def __repr__(self):
        return "<{} {!r}>".format(type(self).__name__, self._below)

    def __deepcopy__(self, memo):
        return copy.deepcopy(self._below)

    def copy(self):
        return copy.deepcopy(self._below)


class ImmutableDict(_Frozen, Mapping):
    """A map."""


class ImmutableList(_Frozen, Sequence):
    """A list; adding to it makes an ordinary one."""

    def __add__(self, other):
        return self._below + other

    def __radd__(self, other):
        return other + self._below


class ImmutableSet(_Frozen, Set):
    """A set."""

    def __contains__(self, key):
        return key in self._below


def freeze(obj):
    kinds = ((dict, ImmutableDict), (list, ImmutableList), (set, ImmutableSet))
    return next((frozen(obj) for kind, frozen in kinds if isinstance(obj, kind)), obj)
