"""Ordered maps."""
import copy
from collections import OrderedDict  # noqa: F401
from collections import defaultdict


class DefaultOrderedDict(OrderedDict):
    """An OrderedDict that makes missing values."""

    def __init__(self, default_factory=None, *args, **kwargs):
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable")
        super().__init__(*args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = value = self.default_factory()
        return value

    def copy(self):
        return copy.copy(self)

    def __copy__(self):
        return type(self)(self.default_factory, self)

    def __reduce__(self):
        return type(self), (self.default_factory,), None, None, iter(self.items())


class HashableOrderedDict(OrderedDict):
    """One that may be a key: each is equal to itself only."""

    def __hash__(self):
        return id(self)


DefaultDict = defaultdict
