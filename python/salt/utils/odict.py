"""Ordered maps."""
from collections import OrderedDict  # noqa: F401
from collections import defaultdict


class DefaultOrderedDict(OrderedDict):
    """An OrderedDict that makes missing values."""

    def __init__(self, default_factory=None, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = value = self.default_factory()
        return value


DefaultDict = defaultdict
