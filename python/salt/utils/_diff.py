"""Differences of nested data, as `{old: …, new: …}`."""
import copy
from collections import OrderedDict
from collections.abc import Mapping


def recursive_diff(old, new, ignore_keys=None, ignore_order=False, ignore_missing_keys=False):
    return _Diff(ignore_keys or (), ignore_order, ignore_missing_keys).of(old, new)


def _pair(old, new):
    return {"old": old, "new": new} if old or new else {}


def _is_iter(value):
    return hasattr(value, "__iter__") and not isinstance(value, str)


class _Diff:
    def __init__(self, ignored, any_order, ignore_missing):
        self._ignored, self._any_order, self._ignore_missing = ignored, any_order, ignore_missing

    def of(self, old, new):
        if isinstance(old, OrderedDict) and isinstance(new, OrderedDict) and not self._any_order:
            return self._ordered(old, new)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return self._mappings(old, new)
        if isinstance(old, set) and isinstance(new, set):
            return _pair(old - new, new - old)
        if _is_iter(old) and _is_iter(new):
            was, now = (self._unordered if self._any_order else self._by_index)(old, new)
            return {"old": type(old)(was), "new": type(new)(now)} if was or now else {}
        return {} if old == new else {"old": copy.deepcopy(old), "new": copy.deepcopy(new)}

    def _ordered(self, old, new):
        """Keys are compared by their places; what only the longer one has stays."""
        was, now = copy.deepcopy(old), copy.deepcopy(new)
        for mine, theirs in zip(old, new):
            if mine == theirs and mine not in self._ignored:
                self._settle(mine, old, new, was, now)
                continue
            for key, rest in ((mine, was), (theirs, now)):
                if key in self._ignored:
                    rest.pop(key, None)
        shorter = min(len(old), len(new))
        was.update((key, old[key]) for key in list(old)[shorter:])
        now.update((key, new[key]) for key in list(new)[shorter:])
        return _pair(was, now)

    def _settle(self, key, old, new, was, now):
        """Leaves of a common key what differs."""
        inner = self.of(old[key], new[key])
        if inner:
            was[key], now[key] = inner["old"], inner["new"]
        else:
            del was[key], now[key]

    def _mappings(self, old, new):
        was, now = copy.deepcopy(old), copy.deepcopy(new)
        for key in set(old) | set(new):
            if key in self._ignored:
                was.pop(key, None)
                now.pop(key, None)
            elif key in old and key in new:
                self._settle(key, old, new, was, now)
            elif key in old and self._ignore_missing:
                del was[key]
        return _pair(was, now)

    def _unordered(self, old, new):
        was, now = list(copy.deepcopy(old)), list(copy.deepcopy(new))
        for mine in old:
            for theirs in new:
                if not self.of(mine, theirs):
                    was.remove(mine)
                    now.remove(theirs)
        return was, now

    def _by_index(self, old, new):
        was, now = list(copy.deepcopy(old)), list(copy.deepcopy(new))
        equal = []
        for at, (mine, theirs) in enumerate(zip(old, new)):
            inner = self.of(mine, theirs)
            if inner:
                was[at], now[at] = inner["old"], inner["new"]
            else:
                equal.append(at)
        for at in reversed(equal):
            del was[at], now[at]
        return was, now
