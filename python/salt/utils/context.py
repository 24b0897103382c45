"""Attributes that are changed for a while."""
import contextlib
import time
from collections.abc import MutableMapping


@contextlib.contextmanager
def func_globals_inject(func, **overrides):
    names = func.__globals__
    missing = object()
    before = {name: names.get(name, missing) for name in overrides}
    names.update(overrides)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is missing:
                names.pop(name, None)
            else:
                names[name] = value


class ContextDict(MutableMapping):
    """A map."""

    def __init__(self, threadsafe=False, **data):
        self._data = data

    def __getitem__(self, key):
        return self._data[key]

    def __setitem__(self, key, value):
        self._data[key] = value

    def __delitem__(self, key):
        del self._data[key]

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)


class CacheDict(dict):
    """Entries expire."""

    def __init__(self, ttl, *args, **kwargs):
        self._ttl, self._times = ttl, {}
        super().__init__(*args, **kwargs)

    def __setitem__(self, key, value):
        self._times[key] = time.time()
        super().__setitem__(key, value)

    def __contains__(self, key):
        if dict.__contains__(self, key) and time.time() - self._times.get(key, time.time()) > self._ttl:
            self.pop(key, None)
        return dict.__contains__(self, key)
